import { mustBe, optionsCheck } from '../arguments.ts';
import type { Instant } from '../clock.ts';

/** What may be said about a new agent. */
export interface AgentStateInit {
  readonly agentId?: string;
  readonly parentAgentId?: string;
  readonly at?: Instant;
}

export const checkJsonOptions = optionsCheck<{ readonly execution?: 'omit' }>('state.toJSON', {
  execution: mustBe.oneOf(['omit']),
});

export const checkInit = optionsCheck<AgentStateInit>(
  'AgentState.empty',
  { agentId: mustBe.anything, parentAgentId: mustBe.anything, at: mustBe.anything },
  {
    id: 'write "agentId"',
    systemPrompt: 'add it, as in AgentState.empty().withSystemPrompt("Be brief.")',
    messages: 'add them, as in AgentState.empty().withMessages(messages)',
    model: 'add it, as in AgentState.empty().withLlmConfig({ model: "openai:gpt-5" })',
    clock: 'pass its time, as in AgentState.empty({ at: clock.now(), agentId: clock.newId() })',
  },
);
