import { AgentSession, AgentState, AgentStep, userMessage } from '@holdfast/core';
import { InferenceResponse } from '@holdfast/core/driver';
import { applySavePlan, planSave, restoreSession } from '@holdfast/core/store';
import { compare, type Timing } from './measure.ts';
import { reportRows, rowOf, type Row } from './report.ts';
import { stateAfter, stateOf } from './states.ts';
import { targetRow, type TargetName } from './targets.ts';

const SIZES = [10, 10_000] as const;

/** Measures what states cost, in so many rounds, and prints it. Returns the targets. */
export async function benchState(rounds: number): Promise<readonly Row[]> {
  const targets = [
    appending(rounds),
    stepping(rounds),
    ...format('1 000 messages of 1 KB', stateOf(1_000), rounds, 'restore messages'),
    ...format('500 tool steps, 1 002 messages', await stateAfter(500), rounds, 'restore steps'),
    ...(await size()),
  ];
  reportRows('State', targets);
  return targets;
}

/** Appending a message costs the same, however many there are. */
function appending(rounds: number): Row {
  const message = userMessage('m'.repeat(1_000));
  const subjects = SIZES.map((size) => {
    const { store } = stateOf(size);
    return { name: String(size), calls: 2_000, run: () => store.append('messages', [message]) };
  });
  return growth('append a message: at 10 000 messages / at 10', compare(subjects, rounds));
}

/** Taking a step costs the same, however many messages there are. */
function stepping(rounds: number): Row {
  const response = InferenceResponse.of({ text: 'An answer.', usage: { inputTokens: 1, outputTokens: 1 } });
  const subjects = SIZES.map((size) => {
    const state = stateOf(size).withExecutionStatus('inProgress');
    const takeStep = (): AgentState => {
      const step = AgentStep.create(state.messages).withResponse(response).withOutput();
      return state.withCurrentStep(step).withCurrentStepCompleted();
    };
    return { name: String(size), calls: 2_000, run: takeStep };
  });
  return growth('take a step: at 10 000 messages / at 10', compare(subjects, rounds));
}

function growth(what: string, timings: ReadonlyMap<string, Timing>): Row {
  const [small, large] = SIZES.map((size) => timings.get(String(size)) as Timing) as [Timing, Timing];
  const detail = `${microseconds(small)} → ${microseconds(large)} (best / median)`;
  return { what, value: large.median / small.median, target: 1.25, detail };
}

/** Writing and reading a whole state, beside the same plain data. */
function format(what: string, state: AgentState, rounds: number, target: TargetName): Row[] {
  const text = JSON.stringify(state);
  const plain: unknown = JSON.parse(text);
  const subjects = [
    { name: 'stringify', calls: 3, run: () => JSON.stringify(plain) },
    { name: 'write', calls: 3, run: () => JSON.stringify(state.toJSON()) },
    { name: 'parse', calls: 3, run: () => JSON.parse(text) as unknown },
    { name: 'read', calls: 3, run: () => AgentState.fromJSON(JSON.parse(text)) },
    { name: 'restore', calls: 3, run: restoring(state) },
  ];
  const timings = compare(subjects, rounds);
  const ratio = (name: string, base: string): readonly number[] => {
    const [own, plainly] = [timings.get(name), timings.get(base)] as [Timing, Timing];
    return [own.median / plainly.median];
  };
  const read = ratio('read', 'parse');
  const rows = [
    rowOf(`toJSON + JSON.stringify / JSON.stringify, ${what}`, ratio('write', 'stringify'), 1.5),
    targetRow(target, read),
    rowOf(`restoreSession / JSON.parse, ${what}`, ratio('restore', 'parse'), 1.5),
  ];
  return rows.map((row) => ({ ...row, detail: `${(text.length / 1e6).toFixed(2)} MB` }));
}

/** Makes a session of the texts that a store has kept, each message and each step a text of its own. */
function restoring(state: AgentState): () => AgentSession {
  const session = AgentSession.create({ definition: { name: 'bench' }, state });
  const saved = applySavePlan(undefined, planSave(session));
  return () => restoreSession(saved, session.info, 'bench');
}

/** Bytes, which do not depend on the machine. */
async function size(): Promise<Row[]> {
  const bytes = async (steps: number): Promise<number> => JSON.stringify(await stateAfter(steps)).length;
  const [early, late] = [(await bytes(21)) - (await bytes(20)), (await bytes(201)) - (await bytes(200))];
  const run = await stateAfter(200);
  const ratio = JSON.stringify(run).length / JSON.stringify(run.messages).length;
  return [
    {
      what: 'bytes a step: at step 200 / at step 20',
      value: late / early,
      target: 1.05,
      detail: `${early} → ${late}`,
    },
    {
      what: 'bytes of a 200-step state / of its messages',
      value: ratio,
      target: 3,
      detail: 'messages with their tags',
    },
  ];
}

function microseconds({ best, median }: Timing): string {
  return `${(best * 1000).toFixed(2)} / ${(median * 1000).toFixed(2)} µs`;
}
