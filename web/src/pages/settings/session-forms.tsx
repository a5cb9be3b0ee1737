import { client } from '../../api/client.ts';
import { ActionForm } from '../../ui/action-form.tsx';
import { CheckField } from '../../ui/field.tsx';
import { useDraft } from '../../ui/use-draft.ts';
import { useLeave } from './password-form.tsx';

/** Ends every session of the person. */
export function SignOutEverywhere() {
  const leave = useLeave();
  const { draft: body, change, clear } = useDraft('settings.sessions', { keep_access_keys: true });
  return (
    <ActionForm
      verb="End my sessions"
      danger
      send={() => client.POST('/tokens/invalidate-me', { body })}
      request={{ method: 'POST', path: '/tokens/invalidate-me', body }}
      onDone={() => {
        clear();
        void leave();
      }}
    >
      {() => (
        <>
          <p>Ends all your sessions, in this browser and everywhere else.</p>
          <CheckField
            label="Keep my access keys"
            hint="Without this, they are deleted, and programs that use them stop."
            checked={body.keep_access_keys}
            onChange={(event) => change({ keep_access_keys: event.target.checked })}
          />
        </>
      )}
    </ActionForm>
  );
}

/** Ends the sessions of everybody in the account. */
export function SignOutAccount() {
  const leave = useLeave();
  return (
    <ActionForm
      verb="End sessions in the account"
      danger
      send={() => client.POST('/tokens/invalidate-account')}
      request={{ method: 'POST', path: '/tokens/invalidate-account' }}
      onDone={() => void leave()}
    >
      {() => (
        <p>Ends the sessions of everybody who is signed in to this account, also yours. Access keys stay valid.</p>
      )}
    </ActionForm>
  );
}

/** Ends the sessions of everybody on the server. */
export function SignOutSystem() {
  const leave = useLeave();
  return (
    <ActionForm
      verb="End sessions on the server"
      danger
      send={() => client.POST('/tokens/invalidate-system')}
      request={{ method: 'POST', path: '/tokens/invalidate-system' }}
      onDone={() => void leave()}
    >
      {() => <p>Ends the sessions of everybody on this server, in all accounts, also yours.</p>}
    </ActionForm>
  );
}
