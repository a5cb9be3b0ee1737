import { ApiError } from '@flotilla/client';
import { Link } from '@tanstack/react-router';
import { Button } from '../ui/button.tsx';
import { ErrorMessage } from '../ui/error-message.tsx';
import type { Action } from './actions.ts';
import { isAtFields } from './field-errors.ts';
import type { Sending } from './use-sending.ts';

/** How far the requests have come, and what stopped them. */
export function SendingState({ sending, action }: { sending: Sending; action: Action }) {
  const { verb, isImmediate } = action;
  const { sent, isSending, isUnanswered, error, work, skip, reset } = sending;
  if (isUnanswered) return <UnknownResult sending={sending} isImmediate={isImmediate} />;
  if (isSending && sent && sent.total > 1) return <Progress accepted={sent.accepted} total={sent.total} />;
  const accepted = sent?.accepted ?? 0;
  const refused = work?.steps[accepted]?.computer;
  return (
    <>
      {accepted > 0 && sent && (
        <div role="status" className="acting-note">
          <p>
            {accepted} of {sent.total} requests were accepted.{' '}
            {work ? `The button ${verb} goes on with the rest.` : 'The page was left before the others were sent.'}
          </p>
          {!work && <Button onClick={reset}>Start over</Button>}
          {work && refused && (
            <Button onClick={skip}>
              Go on without <bdi>{refused.title}</bdi>
            </Button>
          )}
        </div>
      )}
      <Refusal error={error} verb={verb} />
    </>
  );
}

/** Why the server has refused a request. */
function Refusal({ error, verb }: { error: unknown; verb: string }) {
  if (error instanceof ApiError && error.status === 401) {
    return (
      <p className="acting-note">
        Your session had ended, so this was not sent. Sign in, then press {verb} to send it.
      </p>
    );
  }
  if (!isAtFields(error)) return <ErrorMessage error={error} />;
  return (
    <p role="alert" className="error-message">
      Correct the fields that are marked above.
    </p>
  );
}

function Progress({ accepted, total }: { accepted: number; total: number }) {
  return (
    <div className="acting-note">
      <label>
        Sending request {accepted + 1} of {total} <progress value={accepted} max={total} />
      </label>
    </div>
  );
}

/** The response was lost. Nothing here sends it again by itself. */
function UnknownResult({ sending: { sent, reset }, isImmediate }: { sending: Sending; isImmediate: boolean }) {
  const before = sent && sent.accepted > 0 ? ` ${sent.accepted} of ${sent.total} requests were accepted before.` : '';
  return (
    <div role="alert" className="error-message">
      <p>
        The connection was lost before the server responded, so it is unknown whether the action was accepted.{before}{' '}
        {isImmediate ? (
          <>
            See how the <Link to="/computers">computers</Link> are now before you do it again.
          </>
        ) : (
          <>
            Look for it in <Link to="/activities">Activities</Link> before you do it again.
          </>
        )}
      </p>
      <Button kind="quiet" onClick={reset}>
        It was not accepted: back to the form
      </Button>
    </div>
  );
}
