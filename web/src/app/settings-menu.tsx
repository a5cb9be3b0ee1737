import { useState } from 'react';
import { client } from '../api/client.ts';
import { useMe } from '../session/session.ts';
import { Menu, MenuChoice, MenuGroup } from '../ui/menu.tsx';
import { applyTheme, readTheme, type Theme } from './theme.ts';

const THEME_LABELS: ReadonlyArray<{ value: Theme; label: string }> = [
  { value: 'system', label: 'As the system' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
  { value: 'contrast', label: 'High contrast' },
];

/** The person's account and theme, opened at once. */
export function SettingsMenu() {
  const me = useMe();
  const [theme, setTheme] = useState(readTheme);
  const switchAccount = async (account_name: string) => {
    await client.request('POST', '/switch-account', { body: { account_name } });
    // Nothing of the other account may stay on the page.
    window.location.assign('/');
  };
  return (
    <Menu
      label={<bdi className="shell-person">{me?.name ?? 'Account'}</bdi>}
      className="button button-quiet"
      defaultOpen
    >
      {me && me.accounts.length > 1 && (
        <MenuGroup label="Account">
          <MenuChoice
            value={me.current_account}
            options={me.accounts.map(({ name, title }) => ({ value: name, label: title }))}
            onChange={(name) => void switchAccount(name)}
          />
        </MenuGroup>
      )}
      <MenuGroup label="Theme">
        <MenuChoice
          value={theme}
          options={THEME_LABELS}
          onChange={(chosen) => {
            applyTheme(chosen);
            setTheme(chosen);
          }}
        />
      </MenuGroup>
    </Menu>
  );
}
