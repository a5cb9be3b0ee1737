import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { ErrorMessage } from '../ui/error-message.tsx';
import { TextField } from '../ui/field.tsx';
import { loginMethodsQuery, signIn } from './session.ts';

interface SignInFormProps {
  email?: string;
  /** Of an invitation that the person accepts by signing in. */
  invitationId?: string;
  onSignedIn: () => void;
}

/** Signs in by email and password, or by login name where the server offers it. */
export function SignInForm({ email = '', invitationId, onSignedIn }: SignInFormProps) {
  const { data: methods } = useQuery(loginMethodsQuery);
  const [name, setName] = useState(email);
  const [password, setPassword] = useState('');
  const [byIdentity, setByIdentity] = useState(false);
  const login = useMutation({
    mutationFn: () => signIn({ name: name.trim(), byIdentity, password, invitationId }),
    onSuccess: onSignedIn,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!login.isPending) login.mutate();
  };
  return (
    <form className="form" onSubmit={submit}>
      <TextField
        label={byIdentity ? 'Login name' : 'Email'}
        type={byIdentity ? 'text' : 'email'}
        autoComplete="username"
        required
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <TextField
        label="Password"
        type="password"
        autoComplete="current-password"
        required
        value={password}
        onChange={(event) => setPassword(event.target.value)}
      />
      <ErrorMessage error={login.error} />
      <div className="button-row">
        <Button kind="primary" type="submit" busy={login.isPending}>
          Sign in
        </Button>
        {methods?.pam.enabled && (
          <Button kind="quiet" onClick={() => setByIdentity(!byIdentity)}>
            {byIdentity ? 'Use the email address' : 'Use a login name'}
          </Button>
        )}
      </div>
    </form>
  );
}
