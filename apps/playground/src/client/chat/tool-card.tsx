import { getToolName, type DynamicToolUIPart, type ToolUIPart } from 'ai';
import { useState } from 'react';
import { Elapsed } from '../parts/elapsed.tsx';
import { inline } from '../format.ts';
import { VisibleText } from '../parts/visible-text.tsx';

interface ToolCardProps {
  readonly part: ToolUIPart | DynamicToolUIPart;
  /** Whether the run of the call is in progress. */
  readonly isLive: boolean;
}

/** A tool call as it runs: its arguments, then its outcome. */
export function ToolCard({ part, isLive }: ToolCardProps) {
  const name = getToolName(part);
  const phase = phaseOf(part, isLive);
  const result = resultOf(part);
  const [since] = useState(Date.now);
  return (
    <details className="tool" data-phase={phase} data-tool={name}>
      <summary>
        <span className="tool-mark" aria-hidden="true" />
        <code className="tool-name">{name}</code>
        <code className="tool-line">
          <VisibleText text={inline(part.input)} />
        </code>
        <span className="tool-phase">
          {phase === 'running' ? (
            <>
              running <Elapsed since={since} />
            </>
          ) : (
            phase
          )}
        </span>
        {result !== undefined && (
          <code className="tool-line tool-result">
            <VisibleText text={inline(result)} />
          </code>
        )}
      </summary>
      <dl className="tool-details">
        <dt>Arguments</dt>
        <dd>
          <pre>
            <VisibleText text={JSON.stringify(part.input, null, 2) ?? ''} />
          </pre>
        </dd>
        <dt>{phase === 'done' ? 'Result' : 'Outcome'}</dt>
        <dd>
          <pre>
            <VisibleText text={result === undefined ? 'No result yet.' : indented(result)} />
          </pre>
        </dd>
        <dt>Call</dt>
        <dd>
          <code>{part.toolCallId}</code>
        </dd>
      </dl>
    </details>
  );
}

type Phase = 'running' | 'not run' | 'waiting' | 'done' | 'failed' | 'blocked';

function phaseOf({ state }: ToolUIPart | DynamicToolUIPart, isLive: boolean): Phase {
  if (state === 'output-available') return 'done';
  if (state === 'output-error') return 'failed';
  if (state === 'output-denied') return 'blocked';
  if (state === 'approval-requested') return 'waiting';
  return isLive ? 'running' : 'not run';
}

function resultOf(part: ToolUIPart | DynamicToolUIPart): unknown {
  if (part.state === 'output-available') return part.output;
  if (part.state === 'output-error') return part.errorText;
  return part.state === 'output-denied' ? (part.approval?.reason ?? 'The call was blocked.') : undefined;
}

function indented(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}
