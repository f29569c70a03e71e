# SPDX-License-Identifier: BSD-2-Clause
"""The Python package against the program: the same numbers to the digit, the same errors word for word.

usage: tests/python/run BUILD_ROOT tests/python/package.py PROGRAM LOG_MAKER [TEST]..."""
import csv
import io
import json
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings

import ballast

PROGRAM, LOG_MAKER = map(os.path.realpath, sys.argv[1:3])

EXPERIMENT = """\
title: two policies
fleet: {servers: 20}
sweep: {axis: load, values: [0.5, 0.8]}
policies: [random, jiq]
run: {jobs: 5000, replications: 3}
metrics: [response.mean]
claims:
  - {id: better, says: jiq is better, measure: ratio, of: jiq, to: random, expect: {most: 0.9}}
  - {id: worse, says: jiq is worse, measure: ratio, of: jiq, to: random, expect: {least: 2}}
"""


def program(*words, form='json'):
    done = subprocess.run([PROGRAM, *words, f'--format={form}'], stdout=subprocess.PIPE, check=False)
    assert done.returncode in (0, 1), words
    text = done.stdout.decode()
    return json.loads(text) if form == 'json' else list(csv.DictReader(io.StringIO(text)))


def complaint(*words):
    """The one line that the program prints."""
    done = subprocess.run([PROGRAM, *words, '--format=json'], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == 2 and not done.stdout, words
    lines = done.stderr.decode().splitlines()
    assert len(lines) == 1, lines
    return lines[0].replace('ballast: ', '', 1)


def same(ours, theirs):
    """A value of a table and one of JSON or csv."""
    if theirs and isinstance(theirs, str) and not isinstance(ours, (str, bool, int, float)):
        # csv has lists in one field
        theirs = theirs.split()
    if theirs is None or theirs == '':
        return ours is None or len(ours) == 0 if not isinstance(ours, (int, float)) else math.isnan(ours)
    if isinstance(theirs, str) and ours in (True, False) and theirs in ('yes', 'no'):
        theirs = theirs == 'yes'
    if isinstance(theirs, str) and not isinstance(ours, str):
        theirs = float(theirs)
    if isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    return ours == theirs


class Ballast(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.before = os.getcwd()
        os.chdir(cls.place.name)
        with open('load.yaml', 'w', encoding='utf-8') as file:
            file.write(EXPERIMENT)
        with open('access.log', 'wb') as log:
            subprocess.run([LOG_MAKER, '--lines=3000', '--servers=5', '--load=0.5'], stdout=log, check=True)

    @classmethod
    def tearDownClass(cls):
        os.chdir(cls.before)
        cls.place.cleanup()

    def assert_same(self, frame, column, values):
        self.assertEqual(len(frame[column]), len(values))
        for ours, theirs in zip(frame[column], values):
            self.assertTrue(same(ours, theirs), f'{column}: {ours!r} is not {theirs!r}')

    def assert_csv(self, frame, rows, least):
        """Columns of the same name have the same values; there are at least so many of them."""
        common = [name for name in rows[0] if name in frame.columns and name not in ('doubts', 'seconds')]
        self.assertGreaterEqual(len(common), least, common)
        for name in common:
            self.assert_same(frame, name, [row[name] for row in rows])


class Answers(Ballast):
    def test_the_version_is_that_of_the_program(self):
        printed = subprocess.run([PROGRAM, '--version'], stdout=subprocess.PIPE, check=True).stdout
        self.assertEqual(printed.decode(), f'ballast {ballast.version}\n')

    def test_compare_agrees_with_the_program_to_the_digit(self):
        options = ['compare', '--servers=10', '--load=0.85', '--jobs=5k', '--policy=random', '--policy=jiq',
                   '--service=lognormal(2)', '--seed=7']
        frame = ballast.compare(10, 0.85, ['random', 'jiq'], jobs='5k', service='lognormal(2)', seed=7)
        answer = program(*options)
        results = answer['results']
        self.assertEqual(list(frame['policy']), [row['policy'] for row in results])
        for part in 'response', 'waiting':
            self.assert_same(frame, f'{part}.mean', [row[part]['mean'] for row in results])
            self.assert_same(frame, f'{part}.mean.ci', [row[part]['ci'] for row in results])
            for quantile in 'p50', 'p90', 'p99', 'p999':
                self.assert_same(frame, f'{part}.{quantile}', [row[part][quantile] for row in results])
                half = [row[part][quantile + '_ci'] for row in results]
                self.assert_same(frame, f'{part}.{quantile}.ci', half)
        for part in 'messages', 'power':
            for key in results[0][part].keys() - {'energy_per_job', 'energy_per_job_ci'}:
                name = f'{part}.{key[:-3]}.ci' if key.endswith('_ci') else f'{part}.{key}'
                self.assert_same(frame, name, [row[part][key] for row in results])
        self.assert_same(frame, 'memory.bits', [row['memory_bits'] for row in results])
        for key in ('verdict', 'engine', 'replications', 'precise', 'jobs',
                    'events'):
            self.assert_same(frame, key, [row[key] for row in results])
        self.assert_same(frame, 'queue.tail', [row['queue']['tail'] for row in results])
        self.assert_same(frame, 'theory.response_mean',
                         [row['theory'] and row['theory']['response_mean'] for row in results])
        self.assertEqual(frame.attrs['spec'], answer['spec'])
        self.assertEqual(frame.attrs['settings'], answer['settings'])
        self.assert_csv(frame, program(*options, form='csv'), 30)

    def test_csv_and_frames_have_the_same_columns(self):
        for more in [], ['--high=30%'], ['--patience=exp(2)'], ['--failures=mtbf=exp(50),mttr=exp(5)']:
            words = ['compare', '--servers=4', '--jobs=500', '--replications=2', '--policy=random', *more]
            rows = program(*words, form='csv')
            frame = ballast.compare(4, jobs=500, replications=2, policies='random',
                                    **dict(word[2:].split('=', 1) for word in more))
            told = {name for name in rows[0] if rows[0][name]}
            self.assertEqual(told - set(frame.columns), {'settings'})
            asked = {'servers', 'load'} | {word[2:].split('=')[0] for word in more}
            self.assertEqual(set(frame.columns) - set(rows[0]), {'flag', 'seconds'} | asked)
            self.assert_csv(frame, rows, 30)

    def test_percentiles_that_are_asked_for_are_columns(self):
        frame = ballast.compare(10, 0.8, ['random', 'jiq'], jobs=2000, percentiles=[95, 97.5])
        words = ['compare', '--servers=10', '--load=0.8', '--policy=random', '--policy=jiq', '--jobs=2000',
                 '--percentiles=95,97.5']
        results = program(*words)['results']
        for part in 'response', 'waiting':
            for name in 'p95', 'p975':
                self.assert_same(frame, f'{part}.{name}', [row[part][name] for row in results])
                self.assert_same(frame, f'{part}.{name}.ci', [row[part][name + '_ci'] for row in results])
        self.assert_csv(frame[['response.p95', 'response.p95.ci', 'response.p975', 'response.p975.ci']],
                        program(*words, form='csv'), 4)
        for i in range(2):
            self.assertLess(frame['response.p90'][i], frame['response.p95'][i])
            self.assertLess(frame['response.p95'][i], frame['response.p975'][i])
            self.assertLess(frame['response.p975'][i], frame['response.p99'][i])
        alone = ballast.compare(10, 0.8, ['random', 'jiq'], jobs=2000, percentiles=95)
        self.assertEqual(list(alone['response.p95']), list(frame['response.p95']))
        self.assertNotIn('response.p975', alone.columns)

    def test_every_policy_answers_in_columns(self):
        frame = ballast.compare(servers=10, jobs=2000, replications=2)
        rows = program('compare', '--servers=10', '--jobs=2000', '--replications=2', form='csv')
        self.assert_csv(frame, rows, 30)
        self.assertGreater(len(frame), 10)

    def test_run_agrees_and_keeps_what_it_has_done(self):
        parts = []
        frame = ballast.run('load.yaml', db='ours.db', progress=parts.append)
        answer = program('run', 'load.yaml', '--db=theirs.db')
        self.assertEqual(list(frame['load']), [0.5, 0.5, 0.8, 0.8])
        self.assertEqual(list(frame['label']), ['random', 'jiq'] * 2)
        self.assert_same(frame, 'response.mean', [row['response']['mean'] for row in answer['results']])
        self.assert_same(frame, 'seed', [row['seed'] for row in answer['results']])
        for part in 'mean', 'ci':
            name = 'ratio.response.mean' + ('.ci' if part == 'ci' else '')
            self.assert_same(frame, name, [row['ratio']['response.mean'][part] for row in answer['results']])
        self.assert_csv(frame, program('results', 'theirs.db', form='csv'), 30)
        self.assertEqual(frame.attrs['claims'], answer['claims'])
        self.assertEqual([claim['verdict'] for claim in frame.attrs['claims']], ['holds', 'does not hold'])
        self.assertTrue(all(0 <= part <= 1 for part in parts))
        self.assertEqual(parts[-1], 1)
        again = ballast.run('load.yaml', db='ours.db')
        self.assertEqual(list(again['response.mean']), list(frame['response.mean']))
        self.assertEqual(list(again['seconds']), list(frame['seconds']))  # of the same trials

    def test_trials_and_histograms_are_what_results_come_from(self):
        frame = ballast.run('load.yaml', db='raw.db')
        trials, bins = ballast.trials('raw.db'), ballast.histograms('raw.db', run=1)
        self.assert_csv(trials, program('results', 'raw.db', '--trials', form='csv'), 30)
        self.assert_csv(bins, program('results', 'raw.db', '--histograms', form='csv'), 9)
        self.assertEqual(sum(frame['replications']), len(trials))
        self.assertTrue(all(0 <= low < high for low, high in zip(bins['low'], bins['high'])))
        for i, label in enumerate(frame['label']):
            of = [k for k in range(len(trials)) if trials['label'][k] == label
                  and trials['seed'][k] == frame['seed'][i]]
            for metric in 'response.mean', 'messages.per_job', 'queue.mean':
                mean = sum(trials[metric][k] for k in of) / len(of)
                self.assertAlmostEqual(mean, frame[metric][i], delta=1e-9 * (1 + abs(mean)))
            half = [k for k in range(len(bins)) if bins['label'][k] == label
                    and bins['seed'][k] == frame['seed'][i] and bins['distribution'][k] == 'response']
            count = sum(bins['count'][k] for k in half)
            below = sum(bins['count'][k] for k in half if bins['high'][k] <= frame['response.p50'][i])
            self.assertAlmostEqual(below / count, 0.5, delta=0.02)
        with self.assertRaises(ballast.Error):
            ballast.trials('raw.db', run=2)

    def test_metrics_beside_the_usual_are_columns_of_a_run(self):
        metrics = 'metrics: [response.mean, p95, waiting.p97.5]'
        with open('extra.yaml', 'w', encoding='utf-8') as file:
            file.write(EXPERIMENT.replace('metrics: [response.mean]', metrics))
        frame = ballast.run('extra.yaml', db='extra.db')
        results = program('run', 'extra.yaml', '--db=extra2.db')['results']
        for name in 'response.p95', 'waiting.p975':
            for part, end in ('mean', ''), ('ci', '.ci'):
                self.assert_same(frame, name + end, [row['metrics'][name][part] for row in results])
                self.assert_same(frame, f'ratio.{name}{end}', [row['ratio'][name][part] for row in results])
        self.assertTrue(all(p95 > mean for p95, mean in zip(frame['response.p95'], frame['response.mean'])))

    def test_replay_agrees_with_the_program_to_the_digit(self):
        words = ['replay', 'access.log', '--target=p99=2s', '--policy=random', '--policy=jiq',
                 '--policy=tabs']
        frame = ballast.replay('access.log', 'p99=2s', policies=['random', 'jiq', 'tabs'])
        answer = program(*words)
        needs = answer['target']['policies']
        self.assertEqual(list(frame['policy']), [need['policy'] for need in needs])
        for key in 'outcome', 'servers', 'servers_low', 'servers_high', 'value', 'one_fewer', 'kwh', 'watts':
            self.assert_same(frame, 'target.' + key, [need[key] for need in needs])
        self.assert_same(frame, 'target.value.ci', [need['value_ci'] for need in needs])
        for key in 'mean', 'p50', 'p90', 'p99', 'p999', 'target':
            self.assert_same(frame, 'response.' + key, [row['response'][key] for row in answer['results']])
            self.assert_same(frame, f'response.{key}.ci',
                             [row['response'][key + '_ci'] for row in answer['results']])
            for i, end in enumerate(('low', 'high')):
                self.assert_same(frame, f'other_logs.{key}.{end}',
                                 [row['other_logs'][key][i] for row in answer['results']])
        for key in 'log', 'times', 'demand', 'spec', 'history':
            self.assertEqual(frame.attrs[key], answer[key])
        self.assert_csv(frame, program(*words, form='csv'), 20)

    def test_several_logs_are_one(self):
        with open('access.log', 'rb') as log, open('a.log', 'wb') as a, open('-b.log', 'wb') as b:
            lines = log.readlines()
            a.writelines(lines[:1000])
            b.writelines(lines[1000:])
        frame = ballast.replay(['a.log', '-b.log'], policies='jiq', servers=5)
        words = ['replay', '--policy=jiq', '--servers=5', '--format=json', '--', 'a.log', '-b.log']
        done = subprocess.run([PROGRAM, *words], stdout=subprocess.PIPE, check=True)
        self.assert_same(frame, 'response.p99', [json.loads(done.stdout)['results'][0]['response']['p99']])

    def test_policies_are_those_of_the_program(self):
        frame, rows = ballast.policies(), program('policies')
        for key in 'name', 'summary', 'cost', 'paper', 'symmetric', 'parameters':
            self.assertEqual(list(frame[key]), [row[key] for row in rows])

    def test_other_commands_answer_with_their_json(self):
        ours = ballast.ask('fluid', 'pod:d=2', load=0.9, until=3)
        self.assertEqual(ours, program('fluid', 'pod:d=2', '--load=0.9', '--until=3'))


class Flags(Ballast):
    def test_a_doubted_row_has_its_flag_and_reasons(self):
        frame = ballast.compare(10, policies=['random', 'jiq'], jobs='10k')
        words = ['compare', '--servers=10', '--policy=random', '--policy=jiq', '--jobs=10k']
        results = program(*words)['results']
        self.assertIn(['settling'], [row['doubts'] for row in results])
        self.assertIn([], [row['doubts'] for row in results])
        self.assertEqual(list(frame['flag']), ['!' if row['doubts'] else '' for row in results])
        self.assertEqual(list(frame['doubts']), [', '.join(row['doubts']) for row in results])

    def test_ratios_to_a_doubted_baseline_are_flagged(self):
        with open('doubted.yaml', 'w', encoding='utf-8') as file:
            file.write(EXPERIMENT.replace('0.5, 0.8', '0.5, 0.97'))
        frame = ballast.run('doubted.yaml')
        self.assertEqual(list(frame['label']), ['random', 'jiq'] * 2)
        self.assertEqual(list(frame['flag']), ['', '', '?!', '?!'])  # where it is undecided, '?' besides
        self.assertEqual(list(frame['ratio.flag']), ['', '', '!', '!'])

    def test_flags_stand_before_the_numbers(self):
        columns = list(ballast.compare(jobs=1000, policies='jiq').columns)
        self.assertEqual(columns[:6], ['servers', 'load', 'policy', 'flag', 'verdict', 'doubts'])
        self.assertEqual(columns[6], 'response.mean')

    def test_settings_that_were_given_are_columns_in_front(self):
        frame = ballast.compare(5, 0.5, ['random', 'jiq'], jobs=1000, service='lognormal(2)', seed=3)
        self.assertEqual(list(frame.columns)[:4], ['servers', 'load', 'service', 'policy'])
        self.assertEqual(list(frame['servers']), [5, 5])
        self.assertEqual(list(frame['load']), [0.5, 0.5])
        self.assertEqual(list(frame['service']), ['lognormal(2)'] * 2)
        self.assertEqual(list(ballast.compare('2x1,3x2', jobs=1000, policies='jiq')['servers']), ['2x1,3x2'])

    def test_an_unstable_queue_has_no_mean(self):
        frame = ballast.compare(10, 1.3, 'jiq', jobs='10k')
        self.assertEqual(list(frame['verdict']), ['unstable'])
        for name in 'response.mean', 'response.mean.ci', 'response.p99', 'waiting.mean', 'queue.mean':
            self.assertTrue(math.isnan(frame[name][0]), name)

    def test_what_nobody_can_decide_has_a_question_mark(self):
        row = {'verdict': 'undecided', 'doubts': []}
        self.assertEqual(ballast._frame.flag(dict(row))['flag'], '?')
        self.assertEqual(ballast._frame.flag({**row, 'doubts': ['few']})['flag'], '?!')

    def test_a_log_whose_times_may_include_waiting_flags_every_row(self):
        with open('waiting.csv', 'w', encoding='utf-8') as log:
            log.write('time,duration\n')
            for i in range(2000):
                log.write(f'{1700000000 + i * 0.01:.3f},{0.02 + 0.0005 * (i % 100):.4f}\n')
        with self.assertWarnsRegex(ballast.DoubtWarning, 'looks like waiting'):
            frame = ballast.replay('waiting.csv', policies=['random', 'jiq'], servers=10,
                                   service_field='duration:s')
        self.assertTrue(frame.attrs['times']['doubtful'], frame.attrs['times'])
        self.assertEqual(list(frame['flag']), ['!', '!'])
        self.assertIn('service times ' + frame.attrs['times']['kind'], frame['doubts'][0])

    def test_a_fleet_that_falls_behind_flags_its_row(self):
        frame = ballast.replay('access.log', 'p99=1h', servers=20, policies='jsq')
        self.assertGreater(frame['target.load'][0], 1)
        self.assertEqual(frame['flag'][0], '!')
        self.assertIn('growing', frame['doubts'][0])
        self.assertNotIn('growing', ballast.replay('access.log', servers=20, policies='jsq')['doubts'][0])

    def test_warnings_of_the_program_are_warnings(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter('always')
            ballast.replay('access.log', policies='jiq', servers=5, high='^/nowhere')
        self.assertEqual([str(warning.message) for warning in caught], ['--high ^/nowhere: no job matches'])
        self.assertIs(caught[0].category, ballast.DoubtWarning)
        self.assertEqual(caught[0].filename, __file__)


class Commands(Ballast):
    """Those that answer with files and texts."""

    DRAWN = EXPERIMENT + 'figures: [{id: response, x: load, y: response.mean}]\n'

    def test_a_dictionary_is_an_experiment(self):
        asked = {'title': 'two policies', 'fleet': {'servers': 20},
                 'sweep': {'axis': 'load', 'values': (0.5, 0.8)}, 'policies': ['random', 'jiq'],
                 'run': {'jobs': 5000, 'replications': 3}, 'metrics': ['response.mean']}
        before = sorted(os.listdir('.'))
        frame = ballast.run(asked)
        self.assertEqual(sorted(os.listdir('.')), before)
        theirs = ballast.run('load.yaml', db='same.db')
        self.assertEqual(list(frame['response.mean']), list(theirs['response.mean']))
        ballast.run(asked, db='kept.db')
        self.assertEqual(len(ballast.ask('results', 'kept.db')['results']), 4)
        self.assertEqual(ballast.check(asked), [])
        with self.assertRaisesRegex(ballast.Error, '^values: the list is empty'):
            ballast.run({**asked, 'sweep': {'axis': 'load', 'values': []}})

    def test_files_that_a_dictionary_names_are_looked_for_here(self):
        with open('shape.txt', 'w', encoding='utf-8') as file:
            file.write('0 0.5\n10 1\n')
        frame = ballast.run({'title': 'shape', 'fleet': {'servers': 5}, 'policies': ['jiq'],
                             'workload': {'load': 0.5, 'curve': 'file(shape.txt)'},
                             'run': {'jobs': 500, 'replications': 2}})
        self.assertEqual(len(frame), 1)

    def test_check_lists_all_mistakes(self):
        with open('wrong.yaml', 'w', encoding='utf-8') as file:
            file.write(EXPERIMENT.replace('jiq]', 'jqi]').replace('values: [0.5, 0.8]', 'values: [0.5, x]'))
        mistakes = ballast.check('load.yaml', 'wrong.yaml')
        self.assertGreaterEqual(len(mistakes), 1)
        done = subprocess.run([PROGRAM, 'check', 'wrong.yaml'], stderr=subprocess.PIPE)
        theirs = done.stderr.decode().replace('ballast: ', '').splitlines()
        self.assertEqual(mistakes, theirs)

    def test_figure_and_report_are_those_of_the_program(self):
        with open('drawn.yaml', 'w', encoding='utf-8') as file:
            file.write(self.DRAWN)
        ballast.run('drawn.yaml', db='drawn.db')
        self.assertEqual(ballast.figure('drawn.db', 'response', output='ours'), ['ours/drawn-response.svg'])
        subprocess.run([PROGRAM, 'figure', 'drawn.db', '--format=svg', '-o', 'theirs'], check=True,
                       stdout=subprocess.DEVNULL)
        with open('ours/drawn-response.svg', 'rb') as ours, open('theirs/drawn-response.svg', 'rb') as theirs:
            self.assertEqual(ours.read(), theirs.read())
        self.assertEqual(ballast.report('drawn.db', 'page.html'), 'page.html')
        with open('page.html', encoding='utf-8') as page:
            self.assertEqual(page.read(), ballast.report('drawn.db'))
        with self.assertRaisesRegex(ballast.Error, 'none'):
            ballast.figure('drawn.db', 'none')

    def test_fit_answers_with_laws_and_an_experiment(self):
        answer = ballast.fit('access.log', 'fitted.yaml', servers=5)
        with open('fitted.yaml', encoding='utf-8') as file:
            self.assertEqual(answer['experiment'], file.read())
        self.assertEqual(ballast.check('fitted.yaml'), [])
        self.assertEqual(ballast.fit('access.log', servers=5)['experiment'], answer['experiment'])
        self.assertEqual(answer['log']['jobs'], 2999)

    def test_paper_judges_claims(self):
        papers = ballast.paper()
        self.assertIn('supermarket', list(papers['paper']))
        os.mkdir('own')
        with open('own/paper.txt', 'w', encoding='utf-8') as file:
            file.write('title: A test\nsource: none\nexperiments: load\n')
        os.link('load.yaml', 'own/load.yaml')
        claims = ballast.paper('./own', output='judged')
        self.assertEqual(list(claims['verdict']), ['holds', 'does not hold'])
        self.assertTrue(os.path.exists('judged/report.html'))

    def test_help_lists_every_option(self):
        for function in (ballast.compare, ballast.replay, ballast.run, ballast.fit, ballast.paper,
                         ballast.figure):
            done = subprocess.run([PROGRAM, function.__name__, '--help'], stdout=subprocess.PIPE, check=True)
            listed = re.findall(r'^  --([a-z-]+)', done.stdout.decode(), re.MULTILINE)
            self.assertGreater(len(listed), 1)
            for name in set(listed) - {'format', 'output', 'quiet', 'dry-run', 'policy', 'list'}:
                self.assertRegex(function.__doc__, f'(?m)^    {name.replace("-", "_")}=')


class OwnPolicies(Ballast):
    FILE = os.path.join(os.path.dirname(os.path.realpath(__file__)), '..', '..')

    def compare(self, policies, **options):
        return ballast.compare(10, 0.8, policies, **{'jobs': 2000, 'replications': 3, **options})

    @staticmethod
    def uniform(servers, job, rng):
        return rng.randrange(len(servers))

    def test_a_function_decides(self):
        def two_choices(servers, job, rng):
            a, b = rng.sample(servers.open, 2)
            return a if servers[a] <= servers[b] else b
        frame = self.compare([two_choices, self.uniform, 'random'], jobs=20000)
        rows = dict(zip(frame['policy'], range(3)))
        self.assertEqual(set(rows), {'two-choices', 'uniform', 'random'})
        mean, probes = frame['response.mean'], frame['messages.probes_per_job']
        self.assertLess(mean[rows['two-choices']], 0.6 * mean[rows['uniform']])
        self.assertEqual(probes[rows['two-choices']], 2)
        self.assertEqual(probes[rows['uniform']], 0)
        again = self.compare(['random', self.uniform, two_choices], jobs=20000)
        self.assertEqual(sorted(again['response.mean']), sorted(mean))

    def test_where_there_is_no_choice_it_is_any_policy_to_the_last_bit(self):
        frame = ballast.compare(1, 0.7, [lambda servers, job, rng: servers.open[0], 'jsq'], jobs=2000,
                                replications=3, engine='event')
        self.assertEqual(frame['response.mean'][0], frame['response.mean'][1])

    def test_a_class_has_an_instance_for_each_replication(self):
        made = []

        class InTurn:
            def __init__(self, servers):
                made.append(self)
                self.next, self.servers = 0, servers

            def __call__(self, servers, job, rng):
                self.next += 1
                return self.next % len(servers)
        frame = self.compare([InTurn, 'round-robin'], engine='event')
        self.assertEqual([state.servers for state in made], [10] * 3)
        self.assertTrue(all(state.next > 1000 for state in made), [state.next for state in made])
        self.assertAlmostEqual(frame['response.mean'][0], frame['response.mean'][1], delta=0.2)

    def test_what_a_function_sees(self):
        seen = []

        def look(servers, job, rng):
            one_by_one = [servers[i] for i in range(len(servers))]
            seen.append((len(servers), servers.weight(0), servers.work(1) >= 0, list(servers) == one_by_one,
                         job.tasks, job.rank, servers.open, 0 <= rng.random() < 1))
            kept.append(servers)
            return 0
        kept = []
        ballast.compare('2x1,1x4', 0.3, look, jobs=50, replications=1)
        self.assertEqual(set(map(str, seen)), {str((3, 1.0, True, True, 1, 0, [0, 1, 2], True))})
        for use in (lambda: kept[0][0], lambda: kept[0].open):
            with self.assertRaisesRegex(RuntimeError, 'only while route runs'):
                use()

    def test_random_numbers_are_of_the_call(self):
        kept = []

        def of_another_call(servers, job, rng):
            kept.append(rng)
            return kept[0].randrange(len(servers))
        with self.assertRaisesRegex(RuntimeError, 'from the rng of that call'):
            self.compare([of_another_call])
        for use in kept[0].random, lambda: kept[0].getrandbits(70):
            with self.assertRaisesRegex(RuntimeError, 'only while route runs'):
                use()

    def test_a_policy_may_compare_others(self):
        found = []

        class BestKnown:
            def __init__(self, servers):
                frame = ballast.compare(4, policies=[OwnPolicies.uniform, 'jsq'], jobs=200)
                found.append(sorted(frame['policy']))

            def __call__(self, servers, job, rng):
                return rng.randrange(len(servers))
        frame = self.compare([BestKnown, self.uniform])
        self.assertEqual(found, [['jsq', 'uniform']] * 3)
        self.assertEqual(frame['response.mean'][0], frame['response.mean'][1])

    def test_exceptions_end_the_comparison(self):
        count = []

        def fails(servers, job, rng):
            count.append(job)
            if len(count) == 100:
                raise LookupError('enough')
            return 0
        with self.assertRaisesRegex(LookupError, 'enough'):
            self.compare([fails], jobs='1G')
        self.assertEqual(len(count), 100)

        class Unmade:
            def __init__(self, servers):
                raise KeyError('no')
        with self.assertRaises(KeyError):
            self.compare([Unmade])
        for answer in 10, -1, None, 1.5, True, '3':
            with self.assertRaisesRegex(ballast.Error, f'returned {answer!r}; a server is a number from 0'):
                self.compare([lambda servers, job, rng: answer])
        with self.assertRaisesRegex(IndexError, 'server 10: they are numbered from 0 to 9'):
            self.compare([lambda servers, job, rng: servers[10]])

    def test_what_cannot_be_is_refused(self):
        for policies, options, why in (
                ([self.uniform, self.uniform], {}, "two functions are called 'uniform'"),
                ([self.uniform], {'threads': 2}, '^threads: '),
                ([self.uniform], {'dispatchers': 2}, 'dispatchers on a network'),
                ([self.uniform], {'failures': 'mtbf=50,mttr=5'}, 'servers that fail')):
            with self.assertRaisesRegex(ballast.Error, why):
                self.compare(policies, **options)

        def random(servers, job, rng):
            return 0
        with self.assertRaisesRegex(ballast.Error, "there is a policy 'random' already"):
            self.compare([random])
        with self.assertRaisesRegex(ballast.Error, 'functions are for compare'):
            ballast.replay('access.log', policies=[self.uniform])
        with self.assertRaisesRegex(ballast.Error, "unknown policy 'uniform'"):
            self.compare(['uniform'])

    def test_a_policy_from_a_file_is_one_everywhere(self):
        flags = ['-std=c11', '-shared', '-fPIC', f'-I{self.FILE}/include']
        source = f'{self.FILE}/examples/policy.c'
        subprocess.run([os.environ.get('CC', 'cc'), *flags, source, '-o', 'mine.so'], check=True)
        frame = self.compare(['./mine.so', 'random'])
        words = ['compare', '--servers=10', '--load=0.8', '--policy=./mine.so', '--policy=random',
                 '--jobs=2000', '--replications=3']
        theirs = program(*words)['results']
        self.assert_same(frame, 'response.mean', [row['response']['mean'] for row in theirs])
        together = [None] * 4

        def work(i):
            together[i] = list(self.compare(['./mine.so', 'random'])['response.mean'])
        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(together, [list(frame['response.mean'])] * 4)
        swept = ballast.run({'title': 'own', 'fleet': {'servers': 10}, 'policies': ['./mine.so', 'random'],
                             'baseline': './mine.so', 'sweep': {'axis': 'load', 'values': [0.5, 0.8]},
                             'run': {'jobs': 2000, 'replications': 2}}, db='own.db')
        self.assertEqual(list(swept['policy'])[:2], ['last-or-random', 'random'])
        replayed = ballast.replay('access.log', policies=['./mine.so', 'jiq'], servers=5)
        self.assertIn('last-or-random', list(replayed['policy']))
        with self.assertRaisesRegex(ballast.Error, "cannot load the policy './none.so'"):
            self.compare(['./none.so'])


class Errors(Ballast):
    def test_errors_are_the_programs_own_words(self):
        for call, words in [
            (lambda: ballast.compare(load=-1), ['compare', '--load=-1']),
            (lambda: ballast.compare(servers='3y'), ['compare', '--servers=3y']),
            (lambda: ballast.compare(laod=0.5), ['compare', '--laod=0.5']),
            (lambda: ballast.compare(policies=['jiq', 'jqs']), ['compare', '--policy=jiq', '--policy=jqs']),
            (lambda: ballast.compare(batch='fixed(3)'), ['compare', '--batch=fixed(3)']),
            (lambda: ballast.run('none.yaml'), ['run', 'none.yaml']),
            (lambda: ballast.replay('none.log'), ['replay', 'none.log']),
            (lambda: ballast.replay([]), ['replay']),
            (lambda: ballast.replay('access.log', 'p99=2'), ['replay', 'access.log', '--target=p99=2']),
            (lambda: ballast.ask('share', load=2), ['share', '--load=2']),
        ]:
            with self.subTest(words=words), self.assertRaises(ballast.Error) as raised:
                call()
            self.assertEqual(str(raised.exception), complaint(*words))

    def test_what_would_take_the_answer_away_is_refused(self):
        for option in 'format', 'output', 'quiet', 'help':
            with self.assertRaisesRegex(ballast.Error, f'^{option}: '):
                ballast.compare(**{option: 'x'})
        with self.assertRaisesRegex(ballast.Error, 'ballast.fit'):
            ballast.ask('fit', 'access.log')
        with self.assertRaisesRegex(ballast.Error, "unknown command 'live'"):
            ballast.ask('live', 'load.yaml')

    def test_values_that_are_none_are_refused(self):
        for value in object(), [object()], 1j:
            with self.assertRaisesRegex(ballast.Error, '^jobs: '):
                ballast.compare(jobs=value)
        with self.assertRaisesRegex(ballast.Error, 'NUL'):
            ballast.run('load.yaml\0.txt')
        with self.assertRaisesRegex(ballast.Error, '^servers: '):
            ballast.compare(servers=[1, 2])
        for name in 'jobs', 'load', 'servers':
            for value in True, False:
                with self.assertRaisesRegex(ballast.Error, f'^{name}: a value is wanted, not {value}'):
                    ballast.compare(**{name: value})
        for call in ballast.compare, lambda **options: ballast.replay('access.log', **options):
            with self.assertRaisesRegex(ballast.Error, '^policies: the list is empty'):
                call(policies=[])
        with self.assertRaisesRegex(ballast.Error, '^percentiles: the list is empty'):
            ballast.compare(percentiles=[])

    def test_errors_about_files_are_those_of_python(self):
        with open('closed.yaml', 'w', encoding='utf-8') as file:
            file.write(EXPERIMENT)
        for call in ballast.run, ballast.report, ballast.figure, ballast.check, ballast.replay, ballast.fit:
            with self.assertRaises(FileNotFoundError) as raised:
                call('none')
            self.assertIsInstance(raised.exception, ballast.Error)
            self.assertEqual(raised.exception.filename, 'none')
            self.assertRegex(str(raised.exception), "^'?none'?:? .*No such file")
        with self.assertRaises(IsADirectoryError):
            ballast.run('.')
        with self.assertRaises(ballast.Error) as other:
            ballast.run('load.yaml', threads=0)
        self.assertNotIsInstance(other.exception, OSError)

    def test_an_exception_of_progress_ends_the_command(self):
        def give_up(part):
            raise LookupError(f'enough at {part}')
        with self.assertRaisesRegex(LookupError, 'enough'):
            ballast.compare(jobs='1G', progress=give_up)


class Threads(Ballast):
    def interrupt(self, call):
        """Ctrl-C while it works."""
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        try:
            with self.assertRaises(KeyboardInterrupt):
                call()
        finally:
            timer.cancel()
            timer.join()
        self.assertEqual(threading.enumerate(), [threading.current_thread()])

    def test_ctrl_c_ends_a_comparison(self):
        self.interrupt(lambda: ballast.compare(jobs='1G'))
        self.assertEqual(len(ballast.compare(5, jobs=1000, policies='jiq')), 1)

    def test_an_interrupted_run_goes_on(self):
        with open('long.yaml', 'w', encoding='utf-8') as file:
            file.write(EXPERIMENT.replace('jobs: 5000, replications: 3', 'jobs: 20M, replications: 3'))
        self.interrupt(lambda: ballast.run('long.yaml', db='long.db'))
        with open('long.yaml', 'w', encoding='utf-8') as file:
            file.write(EXPERIMENT)
        whole = ballast.run('load.yaml', db='other.db')
        after = ballast.run('long.yaml', db='long.db')
        self.assertEqual(list(after['response.mean']), list(whole['response.mean']))

    def test_ctrl_c_ends_a_replay(self):
        with open('long.log', 'wb') as log:
            subprocess.run([LOG_MAKER, '--lines=100000', '--servers=9', '--load=0.5'], stdout=log, check=True)
        self.interrupt(lambda: ballast.replay('long.log', 'p99=2s', replications=100))

    def test_others_work_while_a_command_does(self):
        turns = []

        def work():
            turns.append(ballast.compare(100, jobs='100k', policies='jiq'))
        thread = threading.Thread(target=work)
        thread.start()
        count = 0
        while thread.is_alive():
            count += 1
        self.assertEqual(len(turns), 1)
        self.assertGreater(count, 1000)

    def test_commands_side_by_side_do_not_meet(self):
        def question(i):
            try:
                policies = ['random', 'jiq'] if i % 2 else 'nobody'
                return list(ballast.compare(5 + i, jobs='5k', policies=policies)['jobs'])
            except ballast.Error as error:
                return str(error)
        alone = [question(i) for i in range(8)]
        together = [None] * 8

        def work(i):
            together[i] = question(i)
        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(together, alone)


class Surroundings(Ballast):
    COMMA = """\
import json, locale, os, subprocess, sys
directory, log = sys.argv[1:]
with open(directory + '/source', 'w') as out:
    out.write('LC_NUMERIC\\ndecimal_point ","\\nthousands_sep ""\\ngrouping -1\\nEND LC_NUMERIC\\n')
with open(directory + '/ascii', 'w') as out:
    out.write('<code_set_name> ASCII\\n<escape_char> /\\nCHARMAP\\n')
    out.write(''.join('<U%04X> /x%02x\\n' % (c, c) for c in range(128)) + 'END CHARMAP\\n')
subprocess.run(['localedef', '-c', '--no-archive', '-i', './source', '-f', './ascii', './comma'],
               cwd=directory, stderr=subprocess.DEVNULL)
import ballast
def ask():
    frame = ballast.replay(log, policies=['jsq'], service_field='duration:s')
    fitted = ballast.fit(log, service_field='duration:s')
    return [list(map(str, frame.columns)), frame['response.p99'].tolist(), fitted]
plain = ask()
os.environ['LOCPATH'] = directory
locale.setlocale(locale.LC_NUMERIC, 'comma')
assert locale.localeconv()['decimal_point'] == ','
assert ask() == plain
"""

    def test_the_locale_of_the_program_plays_no_part(self):
        with tempfile.TemporaryDirectory() as directory:
            log = os.path.join(directory, 'log.csv')
            with open(log, 'w') as out:
                out.write('time,duration\n')
                out.writelines(f'{1772409600 + i / 20:.3f},0.1{i % 7}\n' for i in range(3000))
            subprocess.run([sys.executable, '-W', 'ignore', '-c', self.COMMA, directory, log], check=True)

    SCRIPT = """\
import json, sys
for name in sys.argv[1:]:
    sys.modules[name] = None
import ballast
frame = ballast.compare(10, policies=['random', 'jiq'], jobs='10k')
part = frame[['policy', 'response.mean']]
assert len(frame) == 2 and list(part.columns) == ['policy', 'response.mean'] and 'flag' in frame
print(json.dumps([type(frame).__name__, type(frame['response.mean']).__name__, list(frame['policy']),
    [float(mean) for mean in frame['response.mean']],
    [list(map(float, tail)) for tail in frame['queue.tail']],
    frame.attrs['spec']['servers'], len(frame.columns), repr(frame)]))
"""

    def without(self, *names):
        done = subprocess.run([sys.executable, '-c', self.SCRIPT, *names], stdout=subprocess.PIPE, check=True)
        return json.loads(done.stdout)

    def test_without_pandas_and_numpy_the_numbers_are_the_same(self):
        full, bare = self.without(), self.without('pandas', 'numpy')
        self.assertEqual(bare[:2], ['Table', 'list'])
        self.assertEqual(bare[2:-1], full[2:-1])
        lines = bare[-1].splitlines()
        self.assertTrue(lines[0].startswith('servers  load  policy  flag  verdict  doubts  '), lines)
        self.assertTrue(lines[2].startswith('     10   0.9  random  !     stable'), lines)
        self.assertLessEqual(max(map(len, lines)), 110)

    def test_with_numpy_alone_columns_are_arrays(self):
        try:
            import numpy
        except ImportError:
            self.skipTest('python3-numpy is not there; scripts/setup python installs it')
        full, plain = self.without(), self.without('pandas')
        self.assertEqual(plain[:2], ['Table', 'ndarray'])
        self.assertEqual(plain[2:-1], full[2:-1])
        theirs = ballast.compare(numpy.int64(5), numpy.float64(0.5), 'jiq', jobs=numpy.int32(1000))
        self.assertEqual(theirs['jobs'][0], ballast.compare(5, 0.5, 'jiq', jobs=1000)['jobs'][0])

    def test_with_pandas_answers_are_data_frames(self):
        try:
            import pandas
        except ImportError:
            self.skipTest('python3-pandas is not there; scripts/setup python installs it')
        frame = ballast.compare(5, jobs=1000, policies=['random', 'jiq'])
        self.assertIsInstance(frame, pandas.DataFrame)
        self.assertEqual(str(frame['response.mean'].dtype), 'float64')
        self.assertEqual(str(frame['messages.probes_per_job'].dtype), 'float64')
        self.assertEqual(str(frame['jobs'].dtype), 'int64')

    def test_nothing_is_printed(self):
        script = ('import ballast\nballast.compare(5, jobs=1000)\nballast.run("load.yaml", db="quiet.db")\n'
                  'ballast.replay("access.log", "p99=2s", policies="jiq")\n'
                  'try:\n    ballast.compare(load=-1)\nexcept ballast.Error:\n    pass\n')
        done = subprocess.run([sys.executable, '-c', script], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        self.assertEqual((done.returncode, done.stdout), (0, b''))


class Tap(unittest.TestResult):
    """Tells Meson of each test."""

    def say(self, word, test, note=''):
        print(f'{word} {self.testsRun} - {test.id().partition(".")[2]}{note}', flush=True)

    def addSuccess(self, test):
        self.say('ok', test)

    def addSkip(self, test, reason):
        self.say('ok', test, f' # SKIP {reason}')

    def addFailure(self, test, err):
        self.wrong(test, err)

    def addError(self, test, err):
        self.wrong(test, err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            self.wrong(subtest, err)

    def wrong(self, test, err):
        self.failures.append((test, ''))
        self.say('not ok', test)
        for line in self._exc_info_to_string(err, test).splitlines():
            print('#', line)


def main():
    loader = unittest.TestLoader()
    names = sys.argv[3:]
    suite = loader.loadTestsFromNames(names, sys.modules[__name__]) if names else \
        loader.loadTestsFromModule(sys.modules[__name__])
    result = Tap()
    suite.run(result)
    print(f'1..{result.testsRun}')
    sys.exit(1 if result.failures else 0)


if __name__ == '__main__':
    main()
