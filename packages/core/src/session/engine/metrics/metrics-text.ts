import { mustBe, optionsCheck } from '../../../arguments.ts';
import { secondsBetween, systemClock, type Instant } from '../../../clock.ts';
import { invalidArgument } from '../../../errors.ts';
import type { LaneBacklog } from '../wake-up-queue.ts';
import type { EngineMetrics, LaneMetrics } from './engine-metrics.ts';

/** Labels of metrics, by name. */
export type MetricLabels = Readonly<Record<string, string>>;
type Sample = readonly [labels: MetricLabels, value: number, suffix?: string];
type Family = readonly [name: string, type: string, help: string, samples: readonly Sample[]];

const LABEL_NAME = /^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$/;
const OWN_LABELS = ['le', 'lane', 'outcome'];

/** The options of `metricsText`. */
export interface MetricsTextOptions {
  /** Labels that are added to each sample, as in `{ worker: 'w1' }`. */
  readonly labels?: MetricLabels | undefined;
  /** The wake-ups that wait in the queue, as `engine.backlog()` returns them. The text has the 100 lanes with the most wake-ups. */
  readonly backlog?: readonly LaneBacklog[] | undefined;
  /** The instant of the text; default: now. */
  readonly now?: Instant | undefined;
}

const checkOptions = (options: MetricsTextOptions): MetricsTextOptions =>
  optionsCheck<MetricsTextOptions>('metricsText', {
    labels: mustBe.object,
    backlog: mustBe.listOf('lanes'),
    now: mustBe.instant,
  })(options);

/** The most lanes of a backlog in a text. */
const MAX_LANES = 100;

/**
 * Renders metrics in the text format of Prometheus, version 0.0.4. A session without a lane has the empty label `lane`.
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for an invalid option, and for the name of a label that Prometheus
 * does not accept, or that metrics of the engine use.
 */
export function metricsText(metrics: EngineMetrics, options: MetricsTextOptions = {}): string {
  const { labels = {}, backlog = [], now = systemClock.now() } = checkOptions(options);
  for (const name of Object.keys(labels))
    if (!LABEL_NAME.test(name) || OWN_LABELS.includes(name))
      throw invalidArgument(
        `A label must have letters, digits and "_", and not be ${OWN_LABELS.join(', ')}; found "${name}".`,
      );
  return [...familiesOf(metrics), ...backlogFamilies(backlog, now)]
    .map((family) => familyText(family, labels))
    .join('');
}

/** The families of one sample, by the member of the metrics. */
const SINGLE_SAMPLES = [
  ['steps', 'steps_total', 'counter', 'Closed steps.'],
  ['workSeconds', 'work_seconds_total', 'counter', 'Duration of all advances.'],
  ['errors', 'errors_total', 'counter', 'Advances that threw or returned an error.'],
  [
    'unknownSessions',
    'unknown_sessions_total',
    'counter',
    'Wake-ups of sessions that the store does not have.',
  ],
  ['queueErrors', 'queue_errors_total', 'counter', 'Errors of the queue of the engine.'],
  ['recoveries', 'recoveries_total', 'counter', 'Sessions that were delivered again.'],
  ['lostLocks', 'lost_locks_total', 'counter', 'Locks that were not renewed in time.'],
  ['sessionsInWork', 'sessions_in_work', 'gauge', 'Sessions in work now.'],
  ['concurrency', 'concurrency', 'gauge', 'The most sessions in work at the same time.'],
] as const;

function familiesOf(metrics: EngineMetrics): readonly Family[] {
  const outcomes = Object.entries(metrics.advances).map(([outcome, count]): Sample => [{ outcome }, count]);
  return [
    ['advances_total', 'counter', 'Advances by outcome.', outcomes],
    ...SINGLE_SAMPLES.map(([member, ...family]): Family => [...family, [[{}, metrics[member]]]]),
    ['wait_seconds', 'histogram', 'Time from due to the start of the work.', waitSamples(metrics)],
    ...laneFamilies(metrics),
  ];
}

function backlogFamilies(backlog: readonly LaneBacklog[], now: Instant): readonly Family[] {
  if (backlog.length === 0) return [];
  const lanes = backlog.toSorted((left, right) => right.waiting - left.waiting).slice(0, MAX_LANES);
  const samples = (valueOf: (lane: LaneBacklog) => number): readonly Sample[] =>
    lanes.map((lane): Sample => [{ lane: lane.lane ?? '' }, valueOf(lane)]);
  const waits = samples(({ since = now }) => Math.max(0, secondsBetween(since, now)));
  return [
    ['waiting', 'gauge', 'Wake-ups that are due and wait, by lane.', samples(({ waiting }) => waiting)],
    ['oldest_wait_seconds', 'gauge', 'How long the oldest of them has been due, by lane.', waits],
  ];
}

function waitSamples({ waits: { count, seconds, buckets } }: EngineMetrics): readonly Sample[] {
  return [
    ...buckets.map((bucket): Sample => [{ le: `${bucket.atMostSeconds}` }, bucket.count, '_bucket']),
    [{ le: '+Inf' }, count, '_bucket'],
    [{}, seconds, '_sum'],
    [{}, count, '_count'],
  ];
}

function laneFamilies({ lanes }: EngineMetrics): readonly Family[] {
  const family = (name: string, help: string, valueOf: (lane: LaneMetrics) => number): Family => {
    const samples = lanes.map((lane): Sample => [{ lane: lane.lane ?? '' }, valueOf(lane)]);
    return [`lane_${name}_total`, 'counter', help, samples];
  };
  return [
    family('taken', 'Sessions taken from the queue, by lane.', ({ taken }) => taken),
    family('wait_seconds', 'Time from due to the start of the work, by lane.', ({ waits }) => waits.seconds),
    family('pauses', 'Pauses after a rate limit, by lane.', ({ pauses }) => pauses),
  ];
}

function familyText([name, type, help, samples]: Family, labels: MetricLabels): string {
  const fullName = `holdfast_engine_${name}`;
  const lines = samples.map(
    ([own, value, suffix = '']) => `${fullName}${suffix}${labelsText({ ...labels, ...own })} ${value}\n`,
  );
  return `# HELP ${fullName} ${help}\n# TYPE ${fullName} ${type}\n${lines.join('')}`;
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' };

function labelsText(labels: MetricLabels): string {
  const texts = Object.entries(labels).map(
    ([name, value]) => `${name}="${value.replace(/[\\"\n]/g, (found) => ESCAPES[found] as string)}"`,
  );
  return texts.length === 0 ? '' : `{${texts.join(',')}}`;
}
