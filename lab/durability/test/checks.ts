import { Usage, type AgentSession, type Message } from '@holdfast/core';
import type { Entry } from '../src/journal.ts';
import { FALLBACK_MODEL, OWN_MODEL, PRICES } from '../src/provider.ts';

/** The checks of the work on a session, by name. Each returns the problems that it finds. */
const CHECKS = {
  'a call that has ended is not repeated': endedCallsRepeated,
  'a tool that may run once runs once': runMoreThanOnce,
  'a tool that can be asked runs once, unless it is in flight': doneTwice,
  'a call has one idempotency key': keysChanged,
  'one process works under a claim': sharedClaims,
  'a process without the claim starts no tool': startedWithoutClaim,
  'a process without the claim saves nothing': savedWithoutClaim,
  'a refused call is one failed call of the state': failuresMiscounted,
  'an execution that waits for a retry calls no model': calledWhileWaiting,
  'a fallback is called while it is in use, and then the own model': wrongModelsCalled,
} as const;

export type CheckName = keyof typeof CHECKS;

/** The problems that all checks find, as `name: session problem`. */
export function problemsOf(journal: ReadonlyMap<string, readonly Entry[]>): readonly string[] {
  return [...journal].flatMap(([sessionId, entries]) =>
    Object.entries(CHECKS).flatMap(([name, check]) =>
      check(entries).map((what) => `${name}: ${sessionId} ${what}`),
    ),
  );
}

function endedCallsRepeated(entries: readonly Entry[]): readonly string[] {
  const ended = new Set<string>();
  return entries.flatMap(({ type, call = '', finished = [] }) => {
    for (const id of finished) ended.add(id);
    return type === 'called' && ended.has(call) ? [`call ${call}`] : [];
  });
}

const ONCE = new Set(['once', 'approval']);

function runMoreThanOnce(entries: readonly Entry[]): readonly string[] {
  const called = entries.filter(({ type, tool = '' }) => type === 'called' && ONCE.has(tool));
  return [...Map.groupBy(called, ({ call }) => call)].flatMap(([call, times]) =>
    times.length > 1 ? [`call ${call} ${times.length} times`] : [],
  );
}

function doneTwice(entries: readonly Entry[]): readonly string[] {
  const inFlight = new Set(afterAnother(entries));
  const done = entries.filter(({ type, tool }) => type === 'done' && tool === 'reconcile');
  return [...Map.groupBy(done, ({ call }) => call)].flatMap(([call, times]) =>
    times.length > 1 && !times.some((entry) => inFlight.has(entry)) ? [`call ${call}`] : [],
  );
}

function keysChanged(entries: readonly Entry[]): readonly string[] {
  const called = entries.filter(({ type, tool }) => type === 'called' && tool !== 'readOnly');
  return [...Map.groupBy(called, ({ call }) => call)].flatMap(([call, times]) =>
    new Set(times.map(({ key }) => key)).size > 1 ? [`call ${call}`] : [],
  );
}

function sharedClaims(entries: readonly Entry[]): readonly string[] {
  return perClaim(entries).flatMap(([epoch, done]) =>
    new Set(done.map(({ pid }) => pid)).size > 1 ? [`claim ${epoch}`] : [],
  );
}

/** A process that is frozen longer than this between its check of the claim and the call has a tool in flight. */
const IN_FLIGHT_MS = 100;

/** Only tools with effects count: the loop checks no claim before others. */
function startedWithoutClaim(entries: readonly Entry[]): readonly string[] {
  const withEffect = afterAnother(entries).filter(
    ({ type, tool }) => type === 'called' && tool !== 'readOnly',
  );
  return withEffect.flatMap(({ call, at, checkedAt = at }) =>
    at - checkedAt < IN_FLIGHT_MS ? [`call ${call}`] : [],
  );
}

/** Compares versions, not the order of entries: a process may be frozen between a save and its entry. */
function savedWithoutClaim(entries: readonly Entry[]): readonly string[] {
  const claims = entries.filter(({ type }) => type === 'claimed');
  return entries.flatMap(({ type, epoch, version = 0 }) => {
    const isLater = claims.some((claim) => claim.epoch > epoch && (claim.version ?? 0) < version);
    return type === 'saved' && isLater ? [`claim ${epoch}, version ${version}`] : [];
  });
}

/** The entries of a claim that follow an entry of a later claim. */
function afterAnother(entries: readonly Entry[]): readonly Entry[] {
  let latest = 0;
  return entries.filter(({ epoch }) => {
    latest = Math.max(latest, epoch);
    return epoch < latest;
  });
}

/**
 * Each save under a claim has the failed calls of the claimed state, and those that were refused under the claim. The
 * state has only the calls of its execution, and the provider refuses no call of a later one.
 */
function failuresMiscounted(entries: readonly Entry[]): readonly string[] {
  return perClaim(entries).flatMap(([claim, done]) => {
    let expected = done.find(({ type }) => type === 'claimed')?.failures ?? 0;
    let current: string | undefined;
    return done.flatMap(({ type, failures, execution }) => {
      if (type === 'refused') expected++;
      if (current !== undefined && execution !== undefined && execution !== current) expected = 0;
      current = execution ?? current;
      const isWrong = type === 'saved' && failures !== expected;
      return isWrong ? [`claim ${claim} saved ${failures} failed calls, not ${expected}`] : [];
    });
  });
}

/** A call of the model under a claim needs the instant, or the retry, that the last state of the claim waits for. */
function calledWhileWaiting(entries: readonly Entry[]): readonly string[] {
  const retried = entries.filter(({ type }) => type === 'retried');
  const isRetried = (failures: number | undefined): boolean =>
    retried.some((entry) => entry.failures === failures);
  return perClaim(entries).flatMap(([claim, done]) => {
    let state: Entry | undefined;
    return done.flatMap((entry) => {
      if (entry.type === 'claimed' || entry.type === 'saved') state = entry;
      const { waitsUntil, failures } = state ?? {};
      const isReady = waitsUntil === null ? isRetried(failures) : entry.at >= (waitsUntil ?? 0);
      return entry.type === 'inferring' && !isReady ? [`claim ${claim}`] : [];
    });
  });
}

/**
 * The model to call is the fallback of the execution until its end, or the fallback after a refusal under the claim;
 * otherwise the own model.
 */
function wrongModelsCalled(entries: readonly Entry[]): readonly string[] {
  return perClaim(entries).flatMap(([claim, done]) => {
    let inUse: Entry['fallback'];
    let current: string | undefined;
    let isRefused = false;
    return done.flatMap(({ type, model, outage, fallback, execution, now = 0 }) => {
      if (type === 'claimed' || type === 'saved') {
        inUse = fallback ?? (execution === current ? inUse : undefined);
        current = execution;
      }
      if (type === 'refused') isRefused = outage === 'overloaded';
      if (type !== 'inferring') return [];
      const isFallback = isRefused || (inUse !== undefined && inUse.until > now);
      const wanted = isFallback ? FALLBACK_MODEL : OWN_MODEL;
      isRefused = false;
      return model === wanted ? [] : [`claim ${claim} called ${model}, not ${wanted}`];
    });
  });
}

/** Returns the entries of each claim, in order. */
function perClaim(entries: readonly Entry[]): readonly (readonly [number, readonly Entry[]])[] {
  return [
    ...Map.groupBy(
      entries.filter(({ type }) => type !== 'retried'),
      ({ epoch }) => epoch,
    ),
  ];
}

/** Each step has the model that responded, and its price. */
export function priceProblems({ state, sessionId }: AgentSession): readonly string[] {
  return state.steps.flatMap((step) => {
    const { modelId = '', usage = Usage.none } = step.response ?? {};
    const { model = OWN_MODEL } = state.requestOf(step);
    const price = PRICES[modelId as keyof typeof PRICES];
    const cost =
      ((usage.inputTokens ?? 0) * price.input + (usage.outputTokens ?? 0) * price.output) / 1_000_000;
    const isRight = model === modelId && Math.abs((usage.cost ?? 0) - cost) < 1e-9;
    return isRight ? [] : [`prices of ${sessionId}: ${model}, ${modelId}, ${usage.cost}, not ${cost}`];
  });
}

/** Calls without results, and results without calls, which a provider would refuse. */
export function historyProblems({ state, sessionId }: AgentSession): readonly string[] {
  const problems: string[] = [];
  let open: string[] = [];
  for (const message of state.messages) {
    const results = partsOf(message, 'tool-result');
    if (message.role !== 'tool' && open.length > 0) problems.push(`${open.join()} without a result`);
    if (message.role !== 'tool') open = [];
    problems.push(...results.filter((id) => !open.includes(id)).map((id) => `a result for no call ${id}`));
    open = [...open.filter((id) => !results.includes(id)), ...partsOf(message, 'tool-call')];
  }
  if (open.length > 0) problems.push(`${open.join()} without a result`);
  return problems.map((what) => `history of ${sessionId}: ${what}`);
}

function partsOf({ content }: Message, type: 'tool-call' | 'tool-result'): string[] {
  return typeof content === 'string'
    ? []
    : content.flatMap((part) => (part.type === type && 'toolCallId' in part ? [part.toolCallId] : []));
}
