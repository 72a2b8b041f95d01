import { randomBytes } from 'node:crypto';
import { userMessage, type AgentSession } from '@holdfast/core';

export const MB = 1_000_000;

/** A text that deflate does not shorten. */
export function noise(length: number): string {
  return randomBytes(Math.ceil((length * 3) / 4))
    .toString('base64url')
    .slice(0, length);
}

/** A session with messages that deflate does not shorten. */
export function talkative(session: AgentSession, count: number, length: number): AgentSession {
  const messages = Array.from({ length: count }, () => userMessage(noise(length)));
  return session.withState(session.state.withMessages(messages, session.updatedAt));
}
