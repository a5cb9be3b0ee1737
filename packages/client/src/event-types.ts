import type { components } from './schema.generated.ts';

type Schemas = components['schemas'];

/** Types of events; the API reference lists them with what they mean. */
export type EventType = Schemas['EventType'];

/** An event of one type, or of one of several: comparing `type` narrows `data`. */
export type CloudEvent<T extends EventType = EventType> = T extends EventType
  ? Omit<Schemas['CloudEvent'], 'type' | 'data'> & { type: T; data: EventData[T] }
  : never;

interface OfActivity {
  activity_id: number;
  /** Only of an activity on a single computer. */
  computer_id?: number;
  activity_type: string;
  summary: string;
  activity_status: Schemas['ActivityStatus'];
}

/** The numbers are of operations. */
interface ActivityState extends OfActivity {
  succeeded: number;
  failed: number;
  canceled: number;
}

interface OperationState {
  activity_id: number;
  computer_id: number;
  operation_id: number;
  activity_type: string;
  activity_status: Schemas['ActivityStatus'];
  result_code: number | null;
}

interface OfComputer {
  computer_id: number;
  title: string;
}

interface OfAlert {
  /** Of the activity that needs approval, where the alert is about that. */
  activity_id?: number;
  computer_id?: number;
  alert_type: string;
}

/** What the document describes in words: the data of each type. */
export interface EventData {
  'activity.created': OfActivity & { creator_id: number | null };
  'activity.approved': ActivityState;
  'activity.started': ActivityState;
  'activity.ended': ActivityState;
  'operation.delivered': OperationState;
  'operation.ended': OperationState;
  'computer.enrolled': OfComputer;
  /** `changed` has the names of fields. */
  'computer.changed': OfComputer & { changed: string[] };
  'computer.removed': OfComputer;
  'alert.raised': OfAlert;
  'alert.resolved': OfAlert;
  'profile.run': { activity_id: number; profile_type: 'usg' | 'script'; profile_id: number; computers: number };
  'permissions.changed': { person_id: number | null; role_id: number | null; access_group_id?: number };
  'log.recorded': Omit<Schemas['Event'], 'id' | 'creation_time'> & { log_id: number };
}
