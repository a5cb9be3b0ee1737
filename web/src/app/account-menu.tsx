import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { signOut, useMe } from '../session/session.ts';
import { Button } from '../ui/button.tsx';
import { dropDrafts } from '../ui/drafts/kept.ts';

const SettingsMenu = lazy(() =>
  import('./settings-menu.tsx').then(({ SettingsMenu: component }) => ({ default: component })),
);

/** The person's menu, whose content is loaded when it is first opened, and the end of the session. */
export function AccountMenu() {
  const me = useMe();
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const [isOpened, setOpened] = useState(false);
  const leave = async () => {
    await signOut();
    queryClient.clear();
    await navigate({ to: '/sign-in' });
    void dropDrafts();
  };
  const button = (
    <Button kind="quiet" aria-haspopup="menu" onClick={() => setOpened(true)}>
      <bdi className="shell-person">{me?.name ?? 'Account'}</bdi>
      <span aria-hidden="true" className="menu-caret" />
    </Button>
  );
  return (
    <div className="button-row">
      {isOpened ? (
        <Suspense fallback={button}>
          <SettingsMenu />
        </Suspense>
      ) : (
        button
      )}
      <Button kind="quiet" onClick={() => void leave()}>
        Sign out
      </Button>
    </div>
  );
}
