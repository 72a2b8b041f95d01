import type { SessionSummary } from '../session-view.ts';
import { inWords } from './format.ts';

/** How far the session's execution has got, in a word and a colour. */
export function StatusPill({ session }: { readonly session: SessionSummary }) {
  const [tone, text] = statusOf(session);
  return (
    <span className="pill" data-tone={tone}>
      {text}
    </span>
  );
}

function statusOf({ isRunning, isUnfinished, executionStatus }: SessionSummary): readonly [string, string] {
  if (isRunning) return ['running', 'running'];
  if (isUnfinished) return ['unfinished', 'unfinished'];
  if (executionStatus === 'suspended') return ['waiting', 'waiting for you'];
  return executionStatus === undefined ? ['idle', 'idle'] : [executionStatus, inWords(executionStatus)];
}
