import type { ToolView } from '../../view/session-view.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { inline, seconds } from '../format.ts';
import { VisibleText } from '../parts/visible-text.tsx';

/** Every tool call of the run: its arguments, its outcome, and its idempotency key. */
export function ToolLedger({ tools }: { readonly tools: readonly ToolView[] }) {
  if (tools.length === 0) return <p className="quiet">This run called no tools.</p>;
  return (
    <ul className="ledger">
      {tools.map((tool) => (
        <li key={tool.id}>
          <p className="ledger-head">
            <code className="ledger-name">{tool.name}</code>
            <span className="pill" data-tone={tool.outcome}>
              {tool.outcome}
            </span>
            <span className="ledger-numbers">
              step {tool.stepNumber}, attempt {tool.attempt}
              {tool.outcome !== 'running' && tool.outcome !== 'waiting' && `, ${seconds(tool.seconds)}`}
            </span>
          </p>
          <p className="ledger-value">
            <span>args</span>{' '}
            <code>
              <VisibleText text={inline(tool.args)} />
            </code>
          </p>
          {tool.result !== undefined && (
            <p className="ledger-value">
              <span>{tool.outcome === 'succeeded' ? 'value' : 'error'}</span>{' '}
              <code>
                <VisibleText text={inline(tool.result)} />
              </code>
            </p>
          )}
          <p className="ledger-value">
            <span>key</span> <code>{tool.idempotencyKey}</code>{' '}
            <CopyButton text={tool.idempotencyKey} what="idempotency key" />
          </p>
        </li>
      ))}
    </ul>
  );
}
