import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { ApiError } from '@flotilla/client';
import { queryClient } from '../api/query-client.ts';
import { meQuery, personQuery } from '../session/session.ts';
import { NotFound } from './not-found.tsx';
import { PageError } from './page-error.tsx';
import { pageSearch, signInSearch } from '../url/search.ts';
import { Shell } from './shell.tsx';

const root = createRootRoute({ notFoundComponent: NotFound });

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: signInSearch,
  component: lazyRouteComponent(() => import('../session/sign-in-page.tsx'), 'SignInPage'),
});

const invitation = createRoute({
  getParentRoute: () => root,
  path: '/invitations/$secureId',
  component: lazyRouteComponent(() => import('../session/invitation-page.tsx'), 'InvitationPage'),
});

/** Everything that needs a session. */
const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: Shell,
  async beforeLoad({ location }) {
    try {
      // Times would jump from one zone to another if the person's came later. Without it the browser's serves.
      const person = queryClient.ensureQueryData(personQuery).catch(() => undefined);
      await Promise.all([queryClient.ensureQueryData(meQuery), person]);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 401) throw error;
      throw redirect({ to: '/sign-in', search: { next: location.href } });
    }
  },
});

/** A page below the shell, loaded when it is first opened. Its search parameters are the state of its view. */
function page<P extends string>(path: P, load: () => Promise<{ Page: () => React.ReactNode }>) {
  return createRoute({
    getParentRoute: () => shell,
    path,
    validateSearch: pageSearch,
    component: lazyRouteComponent(load, 'Page'),
  });
}

const pages = [
  page('/', () => import('../pages/overview/overview-page.tsx')),
  page('/computers', () => import('../pages/computers/computers-page.tsx')),
  page('/computers/map', () => import('../pages/map/map-page.tsx')),
  page('/computers/$computerId', () => import('../pages/computer/computer-page.tsx')),
  page('/act/$action', () => import('../acting/action-page.tsx')),
  page('/activities', () => import('../pages/activities/activities-page.tsx')),
  page('/activities/$activityId', () => import('../pages/activities/activity-page.tsx')),
  page('/profiles', () => import('../pages/profiles/profiles-page.tsx')),
  page('/profiles/$kind/new', () => import('../pages/profiles/new-profile-page.tsx')),
  page('/profiles/$kind/$profileId', () => import('../pages/profiles/profile-page.tsx')),
  page('/profiles/$kind/$profileId/edit', () => import('../pages/profiles/edit-profile-page.tsx')),
  page('/scripts', () => import('../pages/scripts/scripts-page.tsx')),
  page('/scripts/new', () => import('../pages/scripts/new-script-page.tsx')),
  page('/scripts/$scriptId', () => import('../pages/scripts/script-page.tsx')),
  page('/alerts', () => import('../pages/alerts/alerts-page.tsx')),
  page('/events', () => import('../pages/events/events-page.tsx')),
  page('/people', () => import('../pages/people/people-page.tsx')),
  page('/settings', () => import('../pages/settings/settings-page.tsx')),
] as const;

export const router = createRouter({
  routeTree: root.addChildren([signIn, invitation, shell.addChildren(pages)]),
  defaultPreload: 'intent',
  defaultErrorComponent: PageError,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
