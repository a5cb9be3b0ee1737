import { ApiError } from '@flotilla/client';
import { Link } from '@tanstack/react-router';
import { Button } from '../ui/button.tsx';
import { ErrorMessage } from '../ui/error-message.tsx';
import type { Action } from './actions.ts';
import { isAtFields } from './field-errors.ts';
import type { ActionRequest } from './plans/plan.ts';
import { isRefusal, type Sent } from './sending.ts';
import type { Sending } from './use-sending.ts';

/** How far the requests have come, and what stopped them. */
export function SendingState({ sending, action }: { sending: Sending; action: Action }) {
  const { sent, isSending, isUnanswered, isFinished, hasRest, error } = sending;
  if (isFinished) return <Finished sending={sending} />;
  if (isUnanswered) return <UnknownResult sending={sending} isImmediate={action.isImmediate} />;
  if (isSending && sent && sent.total > 1) return <Progress sending={sending} sent={sent} />;
  return (
    <>
      {hasRest && <Rest sending={sending} />}
      <Refusal error={error} verb={hasRest ? 'Continue' : action.verb} />
      {!hasRest && <SkipRefused sending={sending} />}
    </>
  );
}

/** Some requests were accepted, then one was refused or the page was left. */
function Rest({ sending }: { sending: Sending }) {
  const { sent, work, resume, reset } = sending;
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
        <SkipRefused sending={sending} />
        <Button kind="quiet" onClick={reset}>
          Start over
        </Button>
      </div>
    </div>
  );
}

/** Leaves out the computer that was refused, or all that are going to be. */
function SkipRefused({ sending: { sent, work, error, skip, skipAll } }: { sending: Sending }) {
  const accepted = sent?.accepted ?? 0;
  const refused = isRefusal(error) && !isSessionEnd(error) ? work?.requests[accepted]?.computer : undefined;
  const hasMore = accepted + 1 < (sent?.total ?? 0);
  if (!refused || (accepted === 0 && !hasMore)) return null;
  return (
    <>
      <Button onClick={skip}>
        Go on without <bdi>{refused.title}</bdi>
      </Button>
      {hasMore && <Button onClick={skipAll}>Go on without all that are refused</Button>}
    </>
  );
}

const NAMED = 100;

/** Names the computers that were left out, before the page leads on. */
function Finished({ sending: { sent, work, finish } }: { sending: Sending }) {
  const refused = work?.refused ?? [];
  const accepted = sent?.accepted ?? 0;
  return (
    <div role="status" className="acting-note">
      <p>
        {accepted === 1 ? '1 request was' : `${accepted.toLocaleString()} requests were`} accepted. Refused for{' '}
        {refused.length === 1 ? '1 computer' : `${refused.length.toLocaleString()} computers`}:
      </p>
      <ul className="acting-refused">
        {refused.slice(0, NAMED).map(({ computer, reason }) => (
          <li key={computer.id}>
            <bdi>{computer.title}</bdi>: {reason}
          </li>
        ))}
      </ul>
      {refused.length > NAMED && <p>and {(refused.length - NAMED).toLocaleString()} more</p>}
      {accepted > 0 && (
        <Button kind="primary" onClick={finish}>
          Show what was started
        </Button>
      )}
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

function Progress({ sending: { work, stop }, sent: { accepted, total } }: { sending: Sending; sent: Sent }) {
  const refused = work?.refused?.length ?? 0;
  return (
    <div className="acting-note button-row">
      <label>
        Sending request {(accepted + 1).toLocaleString()} of {total.toLocaleString()}{' '}
        <progress value={accepted} max={total} />
      </label>
      {refused > 0 && <span>{refused.toLocaleString()} refused</span>}
      <Button onClick={stop}>Stop</Button>
    </div>
  );
}

/** The response was lost. Nothing here sends that request again by itself. */
function UnknownResult({ sending, isImmediate }: { sending: Sending; isImmediate: boolean }) {
  const { sent, work, resume, skip, reset } = sending;
  const { accepted, total } = sent!;
  const computer = work?.requests[accepted]?.computer;
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

function WhereToLook({ computer, isImmediate }: { computer: ActionRequest['computer']; isImmediate: boolean }) {
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
