import type { AppDeps } from './app.ts';
import type { Handlers } from './handler.ts';
import { activitiesRoutes } from './routes/activities.routes.ts';
import { computersRoutes } from './routes/computers.routes.ts';
import { identityRoutes } from './routes/identity.routes.ts';
import { snapsRoutes } from './routes/snaps.routes.ts';

/** The handlers of every operation of the document. */
export function createHandlers(deps: Pick<AppDeps, 'services' | 'publicUrl' | 'deployment'>): Handlers {
  return { ...identityRoutes(deps), ...computersRoutes(deps), ...snapsRoutes(deps), ...activitiesRoutes(deps) };
}
