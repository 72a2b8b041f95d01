import type { SessionView } from '../../view/session-view.ts';
import { Budget } from './budget.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { inWords } from '../format.ts';
import { MessageLedger } from './message-ledger.tsx';
import { RawState } from './raw-state.tsx';
import { Section } from './section.tsx';
import { StatusPill } from '../sessions/status-pill.tsx';
import { StepTimeline } from './step-timeline.tsx';
import { ToolLedger } from './tool-ledger.tsx';

interface StatePanelProps {
  readonly view: SessionView;
  readonly onOpen: (sessionId: string) => void;
}

/** The state, as it is stored and as a run changes it. */
export function StatePanel({ view, onOpen }: StatePanelProps) {
  const { execution, steps, tools, messages, messageCount } = view;
  return (
    <aside className="state" aria-label="State">
      <div className="state-head">
        <h2>State</h2>
        <StatusPill session={view} />
        <span className="version" key={view.version} title="How often the session was saved">
          <span className="visually-hidden">Session version </span>v{view.version}
        </span>
      </div>
      <div className="scroll" tabIndex={0} role="region" aria-label="Details of the state">
        <Facts view={view} onOpen={onOpen} />
        <Budget view={view} />
        <Section title="Steps" count={steps.length}>
          <StepTimeline steps={steps} isRunning={view.isRunning} />
        </Section>
        <Section title="Tool executions" count={tools.length}>
          <ToolLedger tools={tools} />
        </Section>
        <Section title="Messages" count={messageCount}>
          <MessageLedger sessionId={view.sessionId} messages={messages} count={messageCount} />
        </Section>
        <Section title="Stop signals" count={execution?.signals.length ?? 0}>
          <StopSignals view={view} />
        </Section>
        <RawState view={view} />
      </div>
    </aside>
  );
}

function Facts({ view, onOpen }: StatePanelProps) {
  const { sessionId, forkedFrom, execution } = view;
  return (
    <dl className="facts">
      <dt>Session</dt>
      <dd>
        <code>{sessionId}</code> <CopyButton text={sessionId} what="session id" />
      </dd>
      {execution && (
        <>
          <dt>Execution</dt>
          <dd>
            number {execution.number}, {inWords(execution.status)}
          </dd>
          <dt>Decision</dt>
          <dd>{execution.decision}</dd>
        </>
      )}
      {forkedFrom !== undefined && (
        <>
          <dt>Forked from</dt>
          <dd>
            <button type="button" className="link" onClick={() => onOpen(forkedFrom)}>
              <code>{forkedFrom}</code>
            </button>
          </dd>
        </>
      )}
    </dl>
  );
}

function StopSignals({ view }: { readonly view: SessionView }) {
  const signals = view.execution?.signals ?? [];
  if (signals.length === 0)
    return <p className="quiet">No stop signals: the run ends with its own answer.</p>;
  return (
    <ul className="signals">
      {signals.map((signal, index) => (
        // Signals are only ever added at the end.
        <li key={index}>
          <strong>{signal.reason}</strong>
          <span>{signal.message}</span>
          {signal.source !== undefined && <span className="tag">{signal.source}</span>}
        </li>
      ))}
    </ul>
  );
}
