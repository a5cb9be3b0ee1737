import { ApiError } from '@flotilla/client';
import { Link } from '@tanstack/react-router';
import { Button } from '../ui/button.tsx';
import { ErrorMessage } from '../ui/error-message.tsx';
import type { Action } from './actions.ts';
import { isAtFields } from './field-errors.ts';
import type { Step } from './plans/plan.ts';
import { isRefusal, type Sent } from './sending.ts';
import type { Sending } from './use-sending.ts';

/** How far the requests have come, and what stopped them. */
export function SendingState({ sending, action }: { sending: Sending; action: Action }) {
  const { sent, isSending, isUnanswered, hasRest, error } = sending;
  if (isUnanswered) return <UnknownResult sending={sending} isImmediate={action.isImmediate} />;
  if (isSending && sent && sent.total > 1) return <Progress accepted={sent.accepted} total={sent.total} />;
  return (
    <>
      {hasRest && <Rest sending={sending} />}
      <Refusal error={error} verb={hasRest ? 'Continue' : action.verb} />
    </>
  );
}

/** Some requests were accepted, then one was refused or the page was left. */
function Rest({ sending: { sent, work, error, resume, skip, reset } }: { sending: Sending }) {
  const refused = isRefusal(error) && !isSessionEnd(error) ? work?.steps[sent!.accepted]?.computer : undefined;
  return (
    <div role="status" className="acting-note">
      <p>
        {acceptedText(sent!)} {!work && 'This browser has not kept the others, so they were not sent.'}
      </p>
      <div className="button-row">
        {work && (
          <Button kind="primary" onClick={resume}>
            Continue
          </Button>
        )}
        {refused && (
          <Button onClick={skip}>
            Go on without <bdi>{refused.title}</bdi>
          </Button>
        )}
        <Button kind="quiet" onClick={reset}>
          Start over
        </Button>
      </div>
    </div>
  );
}

function acceptedText({ accepted, total }: Sent): string {
  return `${accepted.toLocaleString()} of ${total.toLocaleString()} requests were accepted.`;
}

function isSessionEnd(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401;
}

/** Why the server has refused a request. */
function Refusal({ error, verb }: { error: unknown; verb: string }) {
  if (isSessionEnd(error)) {
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

/** The response was lost. Nothing here sends that request again by itself. */
function UnknownResult({ sending, isImmediate }: { sending: Sending; isImmediate: boolean }) {
  const { sent, work, resume, skip, reset } = sending;
  const { accepted, total } = sent!;
  const computer = work?.steps[accepted]?.computer;
  const hasRest = work !== null && accepted + 1 < total;
  return (
    <div role="alert" className="error-message">
      <p>
        The response of the server did not arrive, so it is unknown whether the action
        {computer && (
          <>
            {' '}
            on <bdi>{computer.title}</bdi>
          </>
        )}{' '}
        was accepted. {accepted > 0 && `Before it, ${acceptedText(sent!)}`}{' '}
        <WhereToLook computer={computer} isImmediate={isImmediate} />
      </p>
      <div className="button-row">
        {work && total > 1 && (
          <Button kind="primary" onClick={skip}>
            Continue
          </Button>
        )}
        {work && <Button onClick={resume}>Send it again{hasRest && ' and continue'}</Button>}
        <Button kind="quiet" onClick={reset}>
          {accepted > 0 ? 'Start over' : 'It was not accepted: back to the form'}
        </Button>
      </div>
    </div>
  );
}

function WhereToLook({ computer, isImmediate }: { computer: Step['computer']; isImmediate: boolean }) {
  if (computer) {
    const params = { computerId: String(computer.id) };
    return (
      <>
        Look at{' '}
        <Link to="/computers/$computerId" params={params} search={isImmediate ? {} : { tab: 'work' }}>
          {isImmediate ? 'this computer' : 'the work of this computer'}
        </Link>{' '}
        before you send it again.
      </>
    );
  }
  return isImmediate ? (
    <>
      See how the <Link to="/computers">computers</Link> are now before you do it again.
    </>
  ) : (
    <>
      Look for it in <Link to="/activities">Activities</Link> before you do it again.
    </>
  );
}
