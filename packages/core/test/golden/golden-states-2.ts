import type { AgentState, LlmConfig, ToolCallPart, ToolExecution } from '@holdfast/core';
import { withCallMarks } from '@holdfast/core/driver';
import type { ToolExecutionId } from '@holdfast/core/engine';
import { steppedClock } from '@holdfast/core/testing';
import { Story } from './golden-states.ts';

const SMALL: LlmConfig = { model: 'openai:gpt-5-mini', temperature: 0 };
const LARGE: LlmConfig = { model: 'openai:gpt-5' };
const usage = { inputTokens: 120, outputTokens: 30, cost: 0.0015 };
const call = (toolCallId: string): ToolCallPart => ({
  type: 'tool-call',
  toolCallId,
  toolName: 'add',
  input: { a: 2, b: 2 },
});
const asked = (llmConfig?: LlmConfig): Story =>
  new Story()
    .do((state, at) => state.withLlmConfig(llmConfig, at))
    .says('What is 2 + 2?')
    .begins();
/** A step that asks for one tool, which is run. */
const worked = (story: Story, id: string): Story =>
  story
    .hears({ content: [call(id)], usage })
    .runs({ type: 'succeeded', value: 4 })
    .closes();

/**
 * How the state of each golden file of version 2 is made. The version is open: its files may be written anew, by
 * `node --conditions=@holdfast/source packages/core/test/golden/write-golden.ts --open`, until it is closed.
 */
export const goldenStates2: Readonly<Record<string, () => AgentState>> = {
  /** A person has approved other arguments of a call, and requests approval again for those of another one. */
  judged: () => {
    return asked()
      .answers({ content: [call('call_1'), call('call_2')], usage })
      .asksApproval()
      .changes((execution) => execution.withEditedArgs({ a: 2, b: 2, base: 10 }))
      .decides({ type: 'approved', by: 'ann' })
      .asksApproval()
      .changes((execution, at) => execution.withApprovalRequestedFor({ a: 3, b: 2 }, at)).state;
  },
  /** Two calls go to another model, the next to the one that the state names, the last to what the driver takes it for. */
  routed: () => {
    const other = { model: SMALL.model, llmConfig: SMALL, toolChoice: 'required' } as const;
    const own = { model: LARGE.model, llmConfig: LARGE, toolChoice: 'auto' } as const;
    const story = asked(LARGE);
    worked(story.sends(other), 'call_1');
    worked(story.sends(other), 'call_2');
    worked(story.sends(own), 'call_3');
    return story
      .sends({ ...own, model: 'openai:gpt-5-2026-08-07' })
      .hears({ text: 'It is 4.', usage })
      .closes()
      .ends().state;
  },
  /** The model of the state was changed between two steps, and back to no settings at all in the next one. */
  'settings-changed': () => {
    const story = asked(LARGE);
    story
      .answers({ content: [call('call_1')], usage })
      .runs({ type: 'succeeded', value: 4 })
      .closes();
    story.do((state, at) => state.withLlmConfig(SMALL, at));
    story
      .answers({ content: [call('call_2')], usage })
      .runs({ type: 'succeeded', value: 4 })
      .closes();
    return story.do((state, at) => state.withLlmConfig(undefined, at)).answers({ text: 'It is 4.', usage })
      .state;
  },
  /** The model has refused a request as too long, and a later execution knows its limit. */
  'context-limit': () => {
    const story = asked(LARGE);
    story.do((state, at) => state.withContextLimit({ maxTokens: 6_000, model: LARGE.model }, at));
    return story.answers({ text: 'It is 4.', usage }).closes().ends().state;
  },
  /** A model was named after a step that named none. */
  'settings-added': () => {
    const story = asked();
    story.answers({ text: 'It is 4.', usage }).closes().ends();
    return story.do((state, at) => state.withLlmConfig(SMALL, at)).state;
  },
  /** A call of a subagent waits for a decision inside, until a moment. */
  'waits-inside': () => {
    const inside = steppedClock(Date.UTC(2026, 10, 22)).newId() as ToolExecutionId;
    const waiting = [
      { type: 'approval', toolExecutionId: inside },
      { type: 'until', until: Date.UTC(2026, 10, 23), toolExecutionId: inside },
    ] as const;
    return asked()
      .answers({ content: [call('call_1')], usage })
      .runs()
      .changes((execution) => execution.withProgress({ parcels: [1, 2] }).withWaitingInside(waiting))
      .do((state, at) => state.withExecutionStatus('suspended', at, waiting)).state;
  },
  /** A call waits for its answer, until an instant. */
  'waits-for-answer': () => {
    const story = asked()
      .answers({ content: [call('call_1')], usage })
      .runs()
      .changes((execution) =>
        execution.withWaitingInside([
          { type: 'answer', toolExecutionId: execution.id, until: Date.UTC(2026, 10, 23) },
        ]),
      );
    return story.do((state, at) =>
      state.withExecutionStatus('suspended', at, state.currentStep?.toolExecutions[0]?.waitingInside),
    ).state;
  },
  /** One call has the outcome of its answer. The answer to another is saved, and its outcome is not recorded yet. */
  answered: () => {
    const answers = (by: string | undefined, value: number) => (execution: ToolExecution, at: number) =>
      execution
        .withWaitingInside([{ type: 'answer', toolExecutionId: execution.id }])
        .withAnswer({ at, ...(by && { by }), outcome: { type: 'succeeded', value } });
    return asked()
      .answers({ content: [call('call_1'), call('call_2')], usage })
      .runs()
      .changes(answers('ann', 4))
      .changes((execution, at) => execution.withOutcome({ type: 'succeeded', value: 4 }, at))
      .runs()
      .changes(answers(undefined, 5)).state;
  },
  /** A call that was in doubt twice has requested approval for the second time. */
  'asked-again': () => {
    const story = asked()
      .answers({ content: [call('call_1')], usage })
      .runs()
      .changes((execution, at) => execution.withApprovalRequested(at))
      .decides({ type: 'approved', by: 'ann' })
      .changes((execution, at) => execution.withStarted(at))
      .changes((execution, at) => execution.withApprovalRequested(at));
    return story.do((state, at) => {
      const [execution] = state.currentStep?.toolExecutions ?? [];
      if (execution === undefined) throw new TypeError('No call was begun.');
      return state.withExecutionStatus('suspended', at, [
        { type: 'approval', toolExecutionId: execution.id },
      ]);
    }).state;
  },
  /** A person has approved a call that the provider runs. Another call waits for a decision. */
  'provider-approvals': () => {
    const lookup = (toolCallId: string, approvalId: string): ToolCallPart =>
      withCallMarks({ ...call(toolCallId), toolName: 'mcp.add', providerExecuted: true }, { approvalId });
    const story = asked()
      .answers({ content: [lookup('call_1', 'mcpr_1')], usage })
      .asksApproval()
      .decides({ type: 'approved', by: 'ann' })
      .changes((execution, at) => execution.withOutcome({ type: 'succeeded', value: { approved: true } }, at))
      .closes();
    story.answers({ content: [lookup('call_2', 'mcpr_2')], usage }).asksApproval();
    return story.do((state, at) => {
      const [execution] = state.currentStep?.toolExecutions ?? [];
      if (execution === undefined) throw new TypeError('No call was begun.');
      return state.withExecutionStatus('suspended', at, [
        { type: 'approval', toolExecutionId: execution.id },
      ]);
    }).state;
  },
};
