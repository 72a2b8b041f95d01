import { VisibleText } from '../parts/visible-text.tsx';

/** A decision on a call that waits for approval. */
export type Decide = (approvalId: string, approved: boolean) => void;

interface ApprovalButtonsProps {
  readonly tool: string;
  /** The arguments of the call. */
  readonly input: unknown;
  /** The approval request of the call that waits. */
  readonly id: string;
  readonly onDecide: Decide;
}

/** Asks the user to approve or deny a call, and shows everything that the call would be run with. */
export function ApprovalButtons({ tool, input, id, onDecide }: ApprovalButtonsProps) {
  return (
    <div className="approval" role="group" aria-label={`Approval of ${tool}`}>
      <p>
        The agent waits for your decision on <code>{tool}</code> with these arguments:
      </p>
      <pre className="approval-arguments" dir="ltr">
        <VisibleText text={JSON.stringify(input, null, 2)} />
      </pre>
      <button type="button" className="button small danger" onClick={() => onDecide(id, false)}>
        Deny
      </button>
      <button type="button" className="button small primary" onClick={() => onDecide(id, true)}>
        Approve
      </button>
    </div>
  );
}
