import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { client } from '../api/client.ts';
import { FirstAccountForm } from './first-account-form.tsx';
import { meQuery } from './session.ts';
import { sessionRenewed } from '../api/session-state.ts';
import { SignInForm } from './sign-in-form.tsx';

/** Signing in; on a new server, its first account. */
export function SignInPage() {
  const { next } = useSearch({ from: '/sign-in' });
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const { data: isNew } = useQuery({ queryKey: ['standalone-account'], queryFn: isNewServer });
  useEffect(() => {
    document.title = 'Sign in – Flotilla';
  }, []);
  const onSignedIn = () => {
    sessionRenewed();
    queryClient.removeQueries({ queryKey: meQuery.queryKey });
    void navigate({ href: next ?? '/', replace: true });
  };
  return (
    <main className="standalone">
      <h1>{isNew ? 'Create the first account' : 'Sign in to Flotilla'}</h1>
      {isNew ? <FirstAccountForm onCreated={onSignedIn} /> : <SignInForm onSignedIn={onSignedIn} />}
    </main>
  );
}

/** Whether nobody has an account yet; servers of other kinds have no such account. */
async function isNewServer(): Promise<boolean> {
  try {
    return !(await client.GET('/standalone-account')).data.exists;
  } catch {
    return false;
  }
}
