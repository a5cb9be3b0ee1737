import { Link, Outlet } from '@tanstack/react-router';
import { LiveProvider, useLiveState } from '../live/live.tsx';
import { usePersonZone } from '../session/session.ts';
import { SignInAgain } from '../session/sign-in-again.tsx';
import { Notices } from '../ui/notices.tsx';
import { ZoneContext } from '../ui/times/use-zone.ts';
import { AccountMenu } from './account-menu.tsx';
import { CommandPalette } from './command-palette.tsx';
import './shell.css';

/** The links of the navigation, in the order of a day's work. */
export const SECTIONS = [
  { to: '/', label: 'Overview' },
  { to: '/computers', label: 'Computers' },
  { to: '/activities', label: 'Activities' },
  { to: '/profiles', label: 'Profiles' },
  { to: '/scripts', label: 'Scripts' },
  { to: '/alerts', label: 'Alerts' },
  { to: '/events', label: 'Events' },
  { to: '/people', label: 'People' },
  { to: '/settings', label: 'Settings' },
] as const;

/** The frame of every page: navigation, the person's menu and the state of the live updates. */
export function Shell() {
  return (
    <LiveProvider>
      <a className="skip-link" href="#content">
        Skip to content
      </a>
      <div className="shell">
        <header className="shell-bar">
          <span className="shell-name" aria-hidden="true">
            Flotilla
          </span>
          <nav aria-label="Main" className="shell-nav">
            {SECTIONS.map(({ to, label }) => (
              <Link key={to} to={to} activeOptions={{ exact: to === '/' }} className="shell-link">
                {label}
              </Link>
            ))}
          </nav>
          <CommandPalette />
          <AccountMenu />
        </header>
        <LiveBanner />
        <main id="content" tabIndex={-1} className="shell-content">
          <ZoneContext value={usePersonZone()}>
            <Outlet />
          </ZoneContext>
        </main>
      </div>
      <Notices />
      <SignInAgain />
    </LiveProvider>
  );
}

function LiveBanner() {
  const state = useLiveState();
  return (
    <div role="status" aria-live="polite" className={state === 'interrupted' ? 'shell-banner' : 'visually-hidden'}>
      {state === 'interrupted' &&
        'Live updates are interrupted. What you see may be out of date; the page is reconnecting.'}
    </div>
  );
}
