import { useQueryClient } from '@tanstack/react-query';
import { Dialog } from '../ui/dialogs/dialog.tsx';
import { useMe } from './session.ts';
import { sessionRenewed, useSessionExpired } from '../api/session-state.ts';
import { SignInForm } from './sign-in-form.tsx';

/** Opens over the page when the session has ended. What the person has typed stays. */
export function SignInAgain() {
  const hasExpired = useSessionExpired();
  const queryClient = useQueryClient();
  const me = useMe();
  const onSignedIn = () => {
    sessionRenewed();
    void queryClient.invalidateQueries();
  };
  return (
    <Dialog
      title="Your session has ended"
      description="Sign in again to go on. Nothing on this page is lost."
      open={hasExpired}
      onOpenChange={() => undefined}
    >
      <SignInForm email={me?.email} onSignedIn={onSignedIn} />
    </Dialog>
  );
}
