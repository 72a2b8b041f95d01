/** A decision on a call that waits for approval. */
export type Decide = (approvalId: string, approved: boolean) => void;

interface ApprovalButtonsProps {
  readonly tool: string;
  /** The approval request of the call that waits. */
  readonly id: string;
  readonly onDecide: Decide;
}

/** Asks the user to approve or deny a call. */
export function ApprovalButtons({ tool, id, onDecide }: ApprovalButtonsProps) {
  return (
    <div className="approval" role="group" aria-label={`Approval of ${tool}`}>
      <p>The agent waits for your decision.</p>
      <button type="button" className="button small danger" onClick={() => onDecide(id, false)}>
        Deny
      </button>
      <button type="button" className="button small primary" onClick={() => onDecide(id, true)}>
        Approve
      </button>
    </div>
  );
}
