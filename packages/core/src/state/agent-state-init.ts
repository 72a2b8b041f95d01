import { mustBe, optionsCheck } from '../arguments.ts';
import type { Clock, Instant } from '../clock.ts';

/** The options of `AgentState.empty`. */
export interface AgentStateInit {
  readonly agentId?: string;
  readonly parentAgentId?: string;
  readonly at?: Instant;
}

export const checkJsonOptions = optionsCheck<{ readonly execution?: 'omit' }>('state.toJSON', {
  execution: mustBe.oneOf(['omit']),
});

export const checkForkOptions = optionsCheck<{
  readonly agentId?: string;
  readonly at?: Instant;
  readonly clock?: Clock;
}>('fork', { agentId: mustBe.anything, at: mustBe.anything, clock: mustBe.clock });

export const checkInit = optionsCheck<AgentStateInit>(
  'AgentState.empty',
  { agentId: mustBe.anything, parentAgentId: mustBe.anything, at: mustBe.anything },
  {
    id: 'use "agentId"',
    systemPrompt: 'set it afterwards, as in AgentState.empty().withSystemPrompt("Be brief.")',
    messages: 'add them afterwards, as in AgentState.empty().withMessages(messages)',
    model: 'set it afterwards, as in AgentState.empty().withLlmConfig({ model: "openai:gpt-5" })',
    clock: 'pass its time and id, as in AgentState.empty({ at: clock.now(), agentId: clock.newId() })',
  },
);
