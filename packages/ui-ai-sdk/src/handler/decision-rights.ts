import { pendingApprovals, type AgentState, type ToolExecution } from '@holdfast/core';
import type { UIMessage } from 'ai';
import { approvalIdOfCall } from '../messages/call-ids.ts';
import { withoutDecision } from '../messages/decidable.ts';
import { ChatRequestError } from './request/chat-error.ts';
import type { CallToDecide, ChatHandlerOptions, ChatUser } from './chat-options.ts';

/** The texts of a page for a call on which its user may not decide. */
const FOR_OTHERS = 'Another person decides on this call.';
const FOR_NOBODY =
  'No page can decide on this call, because its server does not say who may: chatHandler has no option mayDecide.';

/** The rule about who may decide on calls, for all chats of a handler. */
export class DecisionRule {
  private readonly options: Pick<ChatHandlerOptions, 'mayDecide'>;
  private isWarned = false;

  constructor(options: Pick<ChatHandlerOptions, 'mayDecide'>) {
    this.options = options;
  }

  /** The reason that a page shows for a call on which its user may not decide. */
  get reason(): string {
    return this.options.mayDecide ? FOR_OTHERS : FOR_NOBODY;
  }

  async allows(call: CallToDecide, user: ChatUser): Promise<boolean> {
    if (this.options.mayDecide === undefined && !this.isWarned) this.warn(call.name);
    const answer: unknown = await this.options.mayDecide?.(call, user);
    return answer === true;
  }

  private warn(name: string): void {
    this.isWarned = true;
    // oxlint-disable-next-line no-console -- nothing else would tell why the buttons are missing
    console.warn(
      `A call of the tool "${name}" waits for approval, and no page can decide on it: pass mayDecide to chatHandler.`,
    );
  }
}

/** The rights of one user in one chat. A page asks the rule once for each call that it shows. */
export class DecisionRights {
  private readonly rule: DecisionRule;
  private readonly user: ChatUser;
  private readonly sessionId: string;
  private readonly onError: (error: unknown) => void;
  private readonly known = new Map<string, Promise<boolean>>();

  constructor(rule: DecisionRule, user: ChatUser, sessionId: string, onError: (error: unknown) => void) {
    this.rule = rule;
    this.user = user;
    this.sessionId = sessionId;
    this.onError = onError;
  }

  /**
   * Checks that the user may decide on all of the calls.
   * @throws ChatRequestError `CHAT_DECISION_REFUSED` for a call on which the user may not decide; `CHAT_FAILED` when the
   * rule fails.
   */
  async require(calls: readonly ToolExecution[]): Promise<void> {
    for (const call of calls) if (!(await this.allows(call))) throw refused(call, this.rule.reason);
  }

  /** Returns a message of a state as the user sees it: calls on which another person decides say so. */
  async shown(message: UIMessage, state: AgentState): Promise<UIMessage> {
    const waiting = message.parts.some((part) => 'state' in part && part.state === 'approval-requested');
    const others = new Set<string>();
    for (const call of waiting ? pendingApprovals(state) : []) {
      const id = approvalIdOfCall(state, call);
      const known = this.known.get(id) ?? this.allows(call).catch((error: unknown) => this.failed(error));
      this.known.set(id, known);
      if (!(await known)) others.add(id);
    }
    return others.size === 0 ? message : withoutDecision(message, others, this.rule.reason);
  }

  private async allows({ name, args }: ToolExecution): Promise<boolean> {
    const { owner } = this.user;
    const { sessionId } = this;
    try {
      return await this.rule.allows({ name, args, sessionId, owner }, this.user);
    } catch (cause) {
      throw new ChatRequestError('CHAT_FAILED', 'The rule about who may decide on calls failed.', { cause });
    }
  }

  private failed(error: unknown): false {
    this.onError(error instanceof ChatRequestError ? error.cause : error);
    return false;
  }
}

function refused({ name }: ToolExecution, reason: string): ChatRequestError {
  return new ChatRequestError(
    'CHAT_DECISION_REFUSED',
    `The decision on the call of "${name}" does not count, and nothing was changed. ${reason}`,
  );
}
