import type { SessionView } from '../../view/session-view.ts';
import { Elapsed } from '../parts/elapsed.tsx';
import { count, seconds } from '../format.ts';

/** The usage of the run, and its limits. */
export function Budget({ view }: { readonly view: SessionView }) {
  const { maxSteps, execution, isRunning } = view;
  const current = isRunning ? view.steps.find(({ type }) => type === undefined) : undefined;
  const { steps = 0, tokens, workedSeconds = 0 } = execution?.spent ?? {};
  return (
    <section className="budget" aria-label="Budget spent by this run">
      <div>
        <h3>Steps</h3>
        <p>
          {steps}
          <small> of {maxSteps}</small>
        </p>
        <meter aria-label="Steps used" min={0} max={maxSteps} value={steps} />
      </div>
      <div>
        <h3>Tokens</h3>
        <p>
          {count(tokens?.input ?? 0)}
          <small> in</small>
        </p>
        <p>
          {count(tokens?.output ?? 0)}
          <small> out</small>
        </p>
        {tokens !== undefined && tokens.unreportedCalls > 0 && <p className="quiet">at least</p>}
      </div>
      <div>
        <h3>Worked</h3>
        <p>
          {current ? <Elapsed since={current.startedAt} before={workedSeconds} /> : seconds(workedSeconds)}
        </p>
      </div>
    </section>
  );
}
