import { ACTIVITY_GROUP, kindOf } from './kinds.ts';
import { type ActivityStatus, isFinal } from './status.ts';

export interface ActivitySubject {
  type: string;
  status: ActivityStatus;
  /** Types of its children; empty for an operation. */
  childTypes: readonly string[];
  childrenCount: number;
  /** At least one of its effects can still be undone: not yet reverted, and the computer still exists. */
  undoable: boolean;
  /** At least one of its computers is archived or removed. */
  lost: boolean;
  /** No script is redacted, and the caller may run scripts on every computer concerned. */
  runnable: boolean;
}

export interface ActivityActions {
  approvable: boolean;
  cancelable: boolean;
  reappliable: boolean;
  revertable: boolean;
}

/** Which actions an activity allows now. @param manageable - the caller may manage every computer concerned */
export function actionsOf(subject: ActivitySubject, manageable: boolean): ActivityActions {
  return {
    approvable: manageable && subject.status === 'unapproved',
    cancelable: manageable && isCancelable(subject.status),
    reappliable: manageable && subject.runnable && !subject.lost && isReappliable(subject),
    revertable: manageable && isRevertable(subject),
  };
}

/** Open activities can be canceled; computers that have already received them may still report a result. */
export function isCancelable(status: ActivityStatus): boolean {
  return !isFinal(status);
}

/** Ended, and every operation is of a repeatable type. */
export function isReappliable(subject: ActivitySubject): boolean {
  return isFinal(subject.status) && operationTypes(subject).every((type) => kindOf(type).repeatable);
}

/** Every type is reversible, and a success is not reverted yet. Operations must have succeeded, groups have ended. */
export function isRevertable(subject: ActivitySubject): boolean {
  const isOver = subject.childrenCount > 0 ? isFinal(subject.status) : subject.status === 'succeeded' && !subject.lost;
  return isOver && subject.undoable && operationTypes(subject).every((type) => kindOf(type).reversible);
}

function operationTypes(subject: ActivitySubject): readonly string[] {
  return subject.type === ACTIVITY_GROUP && subject.childTypes.length > 0 ? subject.childTypes : [subject.type];
}
