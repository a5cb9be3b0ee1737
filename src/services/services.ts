import type { Config } from '../config.ts';
import type { Logger } from '../logger.ts';
import type { Persistence } from '../persistence/orm.ts';
import { type AccountsService, createAccountsService } from './accounts.service.ts';
import { type ActivitiesService, createActivitiesService } from './activities.service.ts';
import { type ComputersService, createComputersService } from './computers.service.ts';
import { createHashingQueue, createLoginService, type LoginService } from './login.service.ts';
import { createMailer } from './mailer.ts';
import { createPeopleService, type PeopleService } from './people.service.ts';
import type { Clock, Mailer, TemporalHealth } from './ports.ts';
import { createReadiness, type Readiness } from './readiness.service.ts';
import { type Authenticator, createAuthenticator } from './rights.service.ts';
import { createSnapsService, type SnapsService } from './snaps.service.ts';
import { createTokens, type Tokens } from './tokens.ts';

/** Everything the API calls. */
export interface Services {
  tokens: Tokens;
  authenticator: Authenticator;
  readiness: Readiness;
  accounts: AccountsService;
  login: LoginService;
  people: PeopleService;
  computers: ComputersService;
  snaps: SnapsService;
  activities: ActivitiesService;
}

export interface ServicesDeps {
  persistence: Persistence;
  temporal: TemporalHealth;
  clock: Clock;
  jwtSecret: string;
  /** Told of mail and PAM that fail; never of what is in them. */
  logger?: Logger;
  settings: Pick<Config, 'activities' | 'identity' | 'smtpUrl' | 'mailFrom' | 'publicUrl'>;
}

/** Builds the services of one API process. */
export function createServices(deps: ServicesDeps): Services {
  const { persistence, clock, settings, logger } = deps;
  const { db } = persistence;
  const tokens = createTokens(deps.jwtSecret, clock);
  const authenticator = createAuthenticator({ db, tokens, clock });
  const hashing = createHashingQueue();
  const mailer: Mailer = createMailer({ smtpUrl: settings.smtpUrl, from: settings.mailFrom, logger });
  return {
    tokens,
    authenticator,
    readiness: createReadiness({ persistence, temporal: deps.temporal }),
    accounts: createAccountsService({ db, hashing }),
    login: createLoginService({ db, tokens, clock, hashing }),
    people: createPeopleService({ db, mailer, authenticator, publicUrl: settings.publicUrl }),
    computers: createComputersService({ db }),
    snaps: createSnapsService({ db, clock, settings: settings.activities }),
    activities: createActivitiesService({ db, clock }),
  };
}
