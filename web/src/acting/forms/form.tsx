import type { ReactNode } from 'react';
import type { Plan, PlanInput } from '../plans/plan.ts';
import type { Mark } from '../target-list.tsx';
import type { Target } from '../targets.ts';

export interface FieldsProps<F> {
  fields: F;
  change: (changes: Partial<F>) => void;
  /** Of the last request, for the messages at the fields. */
  error: unknown;
  targets: readonly Target[];
}

/** A plan, or why there is none yet. */
export interface PlanState extends Plan {
  isPending?: boolean;
  /** What has to be changed before it can be sent. */
  problem?: string | null;
  /** Computers for which the action is not possible. */
  unfit?: Mark;
}

/** The form of an action. */
export interface FormDefinition<F extends object> {
  initial: F;
  Fields?: (props: FieldsProps<F>) => ReactNode;
  /** A hook, since some plans need what the server knows. */
  usePlan: (input: PlanInput<F>) => PlanState;
  /** Which choices of delivery the action has. */
  delivery: 'any' | 'after' | 'none';
  withAnnotations?: boolean;
  withArchived?: boolean;
}
