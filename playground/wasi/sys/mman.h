/* WASI maps no memory. Callers include this for hints to the kernel only, and work without them. */
