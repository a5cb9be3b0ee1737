/** Kinds of things the event log tells about. */
export type EntityType =
  | 'AccessGroup'
  | 'Account'
  | 'Activity'
  | 'Administrator'
  | 'Alert'
  | 'Computer'
  | 'Credentials'
  | 'Invitation'
  | 'MessageBacklogSetting'
  | 'Person'
  | 'Preferences'
  | 'Role'
  | 'SavedSearch'
  | 'Script'
  | 'ScriptProfile'
  | 'UsgProfile';

/** Where a request came from. */
export interface Origin {
  /** Network address of the client. */
  address: string;
  /** The id its answer carries. */
  requestId: string;
}

/** Who did something. A `Caller` is one. */
export interface EventActor {
  /** Account whose log gets the event; 0 for none. */
  accountId: number;
  /** Null when it is not known who asked. */
  personId: number | null;
  /** The person's name at that moment; it stays in the log when the person is renamed. */
  name: string;
  origin: Origin;
}

/** What was done. */
export interface NewEvent {
  entityType: EntityType;
  /** Null when the thing has no number. */
  entityId: number | null;
  /** Name or title at that moment. */
  entityName: string;
  /** One English sentence without passwords, tokens, keys or secret ids. */
  message: string;
}
