import { hasErrorCode } from '../../errors.ts';
import { compact } from '../../json.ts';
import type { AgentLoop } from '../../loop/agent-loop.ts';
import type { Tool, ToolEffect } from '../../loop/tools/tool-types.ts';
import type { AgentSession } from '../session.ts';
import type { SessionInspection } from '../session-inspection.ts';
import type { Agents } from '../work/agents.ts';

/** The facts about a tool that matter to a person who lets an agent use it. */
export interface ToolFacts {
  readonly name: string;
  readonly description: string;
  /** The effect of a second run of a call. */
  readonly effect: ToolEffect;
  /**
   * `execute`: the tool does the work. `answer`: a call waits for an answer from outside. `provider`: the provider does the
   * work.
   */
  readonly kind: 'execute' | 'answer' | 'provider';
  /** True when some calls, or all, need the approval of a person. */
  readonly mayNeedApproval: boolean;
  readonly canContinue: boolean;
  readonly maxAttempts: number;
  readonly timeoutSeconds?: number;
  readonly approvalTimeoutSeconds?: number;
  readonly answerTimeoutSeconds?: number;
}

/** An inspected session, with the tools of its agent. */
export interface InspectedSession extends SessionInspection {
  /** `undefined` when this runtime does not have the agent. */
  readonly tools: readonly ToolFacts[] | undefined;
}

/** Returns the facts about the tools of an agent. */
export function toolFactsOf({ tools }: AgentLoop): readonly ToolFacts[] | undefined {
  return tools && Object.freeze([...tools.values()].map(factsOf));
}

/** Returns the loop of a session's agent; `undefined` when the runtime does not have the agent. */
export function loopOf(session: AgentSession, agents: Agents): AgentLoop | undefined {
  try {
    return agents.loop(session);
  } catch (error) {
    if (hasErrorCode(error, 'AGENT_NOT_FOUND')) return undefined;
    throw error;
  }
}

function kindOf(tool: Tool): ToolFacts['kind'] {
  if (tool.providerTool?.isProviderExecuted) return 'provider';
  return tool.validateAnswer ? 'answer' : 'execute';
}

function factsOf(tool: Tool): ToolFacts {
  const { name, description, effect = 'once', retry, isResumable = false } = tool;
  return compact({
    name,
    description,
    effect,
    kind: kindOf(tool),
    mayNeedApproval: tool.needsApproval !== undefined,
    canContinue: isResumable,
    maxAttempts: retry?.maxAttempts ?? 1,
    timeoutSeconds: tool.timeoutSeconds,
    approvalTimeoutSeconds: tool.approvalTimeoutSeconds,
    answerTimeoutSeconds: tool.answerTimeoutSeconds,
  });
}
