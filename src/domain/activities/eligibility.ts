import { ACTIVITY_GROUP, kindOf } from './kinds.ts';
import { type ActivityStatus, isFinal } from './status.ts';

/** What a decision on an activity needs to know of it. */
export interface ActivitySubject {
  type: string;
  status: ActivityStatus;
  /** Types of its children; empty on an operation. */
  childTypes: readonly string[];
  childrenCount: number;
  /** Something that it did, of a group on a computer that is still there, is to be undone, as far as is known. */
  undoable: boolean;
  /** One of its computers is archived or removed. */
  lost: boolean;
  /** No script of it is redacted, and the caller may run scripts where it ran. */
  runnable: boolean;
}

/** What the caller may do with an activity now. */
export interface ActivityActions {
  approvable: boolean;
  cancelable: boolean;
  reappliable: boolean;
  revertable: boolean;
}

/** Which actions an activity allows now. @param manageable - the caller may act on every computer concerned */
export function actionsOf(subject: ActivitySubject, manageable: boolean): ActivityActions {
  return {
    approvable: manageable && subject.status === 'unapproved',
    cancelable: manageable && isCancelable(subject.status),
    reappliable: manageable && subject.runnable && !subject.lost && isReappliable(subject),
    revertable: manageable && isRevertable(subject),
  };
}

/** Anything that has not ended; what a computer already has may still report. */
export function isCancelable(status: ActivityStatus): boolean {
  return !isFinal(status);
}

/** Ended, and every operation of a type that can be repeated. */
export function isReappliable(subject: ActivitySubject): boolean {
  return isFinal(subject.status) && operationTypes(subject).every((type) => kindOf(type).repeatable);
}

/**
 * Every operation of a type with an inverse, and something that succeeded is not undone already: of a group that has
 * ended, whatever became of the rest.
 */
export function isRevertable(subject: ActivitySubject): boolean {
  const isOver = subject.childrenCount > 0 ? isFinal(subject.status) : subject.status === 'succeeded' && !subject.lost;
  return isOver && subject.undoable && operationTypes(subject).every((type) => kindOf(type).reversible);
}

function operationTypes(subject: ActivitySubject): readonly string[] {
  return subject.type === ACTIVITY_GROUP && subject.childTypes.length > 0 ? subject.childTypes : [subject.type];
}
