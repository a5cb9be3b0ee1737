import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useEffect } from 'react';
import { client } from '../api/client.ts';
import { Button } from '../ui/button.tsx';
import { CopyAs } from '../ui/copy-as.tsx';
import { ErrorMessage } from '../ui/error-message.tsx';
import { Skeleton } from '../ui/page.tsx';
import { meQuery } from './session.ts';
import { sessionRenewed } from '../api/session-state.ts';
import { SignInForm } from './sign-in-form.tsx';

/** Accepting an invitation: with the present session, or by signing in, which creates a new person's account. */
export function InvitationPage() {
  const { secureId } = useParams({ from: '/invitations/$secureId' });
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const invitation = useQuery({
    queryKey: ['invitation-summary', secureId],
    queryFn: async () =>
      (await client.GET('/invitations/{secure_id}/summary', { params: { path: { secure_id: secureId } } })).data,
  });
  const me = useQuery(meQuery);
  useEffect(() => {
    document.title = 'Invitation – Flotilla';
  }, []);
  const onAccepted = () => {
    sessionRenewed();
    queryClient.removeQueries({ queryKey: meQuery.queryKey });
    void navigate({ to: '/', replace: true });
  };
  const acceptance = useMutation({
    mutationFn: () => client.POST('/accept-invitation', { body: { invitation_id: secureId } }),
    onSuccess: onAccepted,
  });
  if (invitation.isPending || me.isPending) return <Skeleton />;
  return (
    <main className="standalone">
      <h1>{invitation.data ? `Join ${invitation.data.account_title}` : 'This invitation cannot be used'}</h1>
      <ErrorMessage error={invitation.error} />
      {invitation.data && me.data && (
        <>
          <p>You are signed in as {me.data.email}.</p>
          <ErrorMessage error={acceptance.error} />
          <Button kind="primary" busy={acceptance.isPending} onClick={() => acceptance.mutate()}>
            Accept
          </Button>
          <CopyAs
            request={{ method: 'POST', path: '/accept-invitation', body: { invitation_id: '<id in the address>' } }}
          />
        </>
      )}
      {invitation.data && !me.data && (
        <>
          <p>Sign in to accept the invitation. If you are new, choose the password of your account here.</p>
          <SignInForm invitationId={secureId} onSignedIn={onAccepted} />
        </>
      )}
    </main>
  );
}
