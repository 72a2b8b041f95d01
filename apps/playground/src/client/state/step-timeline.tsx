import type { StepView } from '../../view/session-view.ts';
import { Elapsed } from '../parts/elapsed.tsx';
import { count, inWords, seconds } from '../format.ts';

interface StepTimelineProps {
  readonly steps: readonly StepView[];
  readonly isRunning: boolean;
}

/** The steps of the run, in order, with their type, duration and usage. */
export function StepTimeline({ steps, isRunning }: StepTimelineProps) {
  if (steps.length === 0) return <p className="quiet">No step yet.</p>;
  return (
    <ol className="steps">
      {steps.map((step) => (
        <Step key={step.id} step={step} isRunning={isRunning} />
      ))}
    </ol>
  );
}

function Step({ step, isRunning }: { readonly step: StepView; readonly isRunning: boolean }) {
  const { number, type, tokens, toolNames, text, errors, modelId } = step;
  return (
    <li className="step" data-type={type ?? 'running'}>
      <span className="step-number" aria-hidden="true">
        {number}
      </span>
      <p className="step-line">
        <span className="visually-hidden">Step {number}: </span>
        <strong>{type === undefined ? 'in progress' : inWords(type)}</strong>
        <span className="step-numbers">
          <StepTime step={step} isRunning={isRunning} />
          <span className="quiet" title={tokens.unreportedCalls > 0 ? 'not reported' : modelId}>
            {count(tokens.input)} → {count(tokens.output)} tok
          </span>
        </span>
      </p>
      {toolNames.length > 0 && (
        <p className="step-tools">
          {toolNames.map((name, index) => (
            // A step may call one tool several times.
            <code key={index} className="tag">
              {name}
            </code>
          ))}
        </p>
      )}
      {text !== '' && <p className="step-text">{text}</p>}
      {errors.map(({ message }) => (
        <p key={message} className="step-error">
          {message}
        </p>
      ))}
    </li>
  );
}

function StepTime({ step, isRunning }: { readonly step: StepView; readonly isRunning: boolean }) {
  if (step.seconds !== undefined) return <span>{seconds(step.seconds)}</span>;
  return isRunning ? <Elapsed since={step.startedAt} /> : <span>open</span>;
}
