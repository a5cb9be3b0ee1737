import { ApiError } from '@flotilla/client';
import { useQuery } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { type FormEvent, useMemo, useState } from 'react';
import { permissionsQuery, useCan } from '../session/session.ts';
import { useSessionExpired } from '../api/session-state.ts';
import { Button } from '../ui/button.tsx';
import { CopyAs } from '../ui/copy-as.tsx';
import { useDraft } from '../ui/use-draft.ts';
import { useZone } from '../ui/times/use-zone.ts';
import { type Action, needsConfirmation } from './actions.ts';
import { ConfirmField, expectedConfirmation } from './confirm-field.tsx';
import { DeliveryFields } from './delivery-fields.tsx';
import type { FormDefinition, PlanState } from './forms/form.tsx';
import { AT_ONCE, momentOf } from './plans/delivery.ts';
import { SendingState } from './sending-state.tsx';
import { type Mark, TargetList } from './target-list.tsx';
import type { Target, Targets } from './targets.ts';
import { useFinish, useGoBack } from './use-finish.ts';
import { type Sending, useSending } from './use-sending.ts';

export interface ComputerActionProps {
  action: Action;
  /** What the person chose. */
  source: Targets;
  /** The computers that this was when the page was opened. */
  found: readonly Target[];
  /** Parameters of the URL, which may fill in fields. */
  search: Readonly<Record<string, unknown>>;
}

type FormProps<F extends object> = ComputerActionProps & { form: FormDefinition<F> };

/** The form of an action with the computers that it is for. */
export function ComputerActionForm<F extends object>(props: FormProps<F>) {
  const { form, action } = props;
  const { draft, change, targets, plan, sending } = useActing(props);
  const { fields, delivery, leftOut } = draft;
  const can = useCan();
  const arePermissionsKnown = useQuery(permissionsQuery).isSuccess;
  const isForbidden = ({ accessGroup }: Target) =>
    arePermissionsKnown && !action.permissions.every((name) => can(name, accessGroup));
  const hasAccepted = (sending.sent?.accepted ?? 0) > 0;
  const leaveOut = (ids: readonly number[]) => change({ leftOut: [...leftOut, ...ids] });
  const { Fields } = form;
  const changeFields = (changes: Partial<F>) => change({ fields: { ...fields, ...changes } });
  return (
    <Frame action={action} targets={targets} plan={plan} sending={sending} isAllowed={!targets.some(isForbidden)}>
      <TargetList
        targets={targets}
        marks={marksOf(action, isForbidden, plan.unfit, sending.error)}
        leaveOut={hasAccepted || sending.isSending ? undefined : leaveOut}
      />
      <fieldset className="acting-fields" disabled={hasAccepted}>
        {Fields && <Fields fields={fields} change={changeFields} error={sending.error} targets={targets} />}
        {form.delivery !== 'none' && (
          <DeliveryFields
            delivery={delivery}
            kind={form.delivery}
            change={(changes) => change({ delivery: { ...delivery, ...changes } })}
            error={sending.error}
          />
        )}
      </fieldset>
    </Frame>
  );
}

/** What the person has typed, the requests that follow from it, and sending them. */
function useActing<F extends object>({ form, action, source, found, search }: FormProps<F>) {
  const key = `act.${action.id}.${JSON.stringify(search)}`;
  const { draft, change, clear } = useDraft(key, {
    fields: prefill(form.initial, search),
    delivery: AT_ONCE,
    leftOut: [] as number[],
  });
  const { fields, delivery, leftOut } = draft;
  const targets = useMemo(() => {
    const left = new Set(leftOut);
    return found.filter(({ id }) => !left.has(id));
  }, [found, leftOut]);
  const plan = form.usePlan({
    fields,
    targets,
    delivery: { ...delivery, at: momentOf(delivery.at, useZone()) },
    chosenBy: chosenBy(source, targets, leftOut.length > 0),
  });
  const finish = useFinish({ action, targets, undo: plan.undo ?? null });
  const sending = useSending(key, (ids, isResumed) => {
    clear();
    finish(ids, isResumed);
  });
  useLeaveWarning(sending);
  return { draft, change, targets, plan, sending };
}

/** What has to be known about some of the computers. */
function marksOf(action: Action, isForbidden: Mark['applies'], unfit: Mark | undefined, error: unknown): Mark[] {
  const named = new Set(error instanceof ApiError ? error.details.map(({ id }) => id) : []);
  return [
    { label: 'No permission', applies: isForbidden, text: 'in access groups where you may not do this.' },
    { label: 'Refused', applies: ({ id }) => named.has(id), text: 'the reason why it was refused.' },
    ...(unfit ? [unfit] : []),
    {
      label: 'Offline',
      applies: ({ isOffline }) => action.needsContact && isOffline,
      text: 'offline and will get it when contact is back.',
    },
  ];
}

interface FrameProps {
  action: Action;
  targets: readonly Target[];
  plan: PlanState;
  sending: Sending;
  /** The person may do it on all of the computers. */
  isAllowed: boolean;
  children: React.ReactNode;
}

/** The form itself, with what it warns of, its button and how to do the same from a shell. */
function Frame({ action, targets, plan, sending, isAllowed, children }: FrameProps) {
  const [confirmation, setConfirmation] = useState('');
  const hasExpired = useSessionExpired();
  const goBack = useGoBack();
  const hasStarted = sending.isUnanswered || sending.hasRest || sending.isFinished;
  const rest = hasStarted ? sending.rest() : null;
  const mustConfirm = !hasStarted && needsConfirmation(action, targets.length);
  const isConfirmed = !mustConfirm || confirmation.trim() === expectedConfirmation(targets).trim();
  const isReady = isAllowed && isConfirmed && !plan.isPending && !plan.problem && plan.requests.length > 0;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReady && !hasExpired && !hasStarted) sending.start(plan.requests);
  };
  return (
    <form className="form acting-form" onSubmit={submit}>
      {children}
      {action.warning && <p className="acting-warning">{action.warning}</p>}
      {mustConfirm && <ConfirmField targets={targets} value={confirmation} onChange={setConfirmation} />}
      {plan.problem && <p className="quiet">{plan.problem}</p>}
      <div className="button-row">
        {!hasStarted && (
          <Button
            type="submit"
            kind={action.confirm === 'always' ? 'danger' : 'primary'}
            busy={sending.isSending}
            disabled={!isReady}
          >
            {action.verb}
          </Button>
        )}
        <Button onClick={goBack}>Cancel</Button>
        {rest ? (
          rest.length > 0 && <CopyAs request={rest} />
        ) : (
          <CopyAs request={plan.requests} command={plan.command} />
        )}
      </div>
      {/* Below the buttons, which must not move under the second click of a double click. */}
      <SendingState sending={sending} action={action} />
    </form>
  );
}

/** Fields that the URL names have its values at first. */
function prefill<F extends object>(initial: F, search: Readonly<Record<string, unknown>>): F {
  const given = Object.entries(initial).map(([name, value]) => [
    name,
    typeof value === 'string' && search[name] !== undefined ? String(search[name]) : value,
  ]);
  return Object.fromEntries(given) as F;
}

/** How a `flotilla` command chooses the same computers. */
function chosenBy(source: Targets, targets: readonly Target[], isReduced: boolean): string[] {
  if ('ids' in source || isReduced) return ['--id', targets.map(({ id }) => id).join(',')];
  return source.query.trim() === '' ? ['--all'] : ['-q', source.query];
}

/** Warns before the page is left while requests are being sent. */
function useLeaveWarning({ isSending, isLocked }: Sending): void {
  useBlocker({
    shouldBlockFn: () =>
      isSending && isLocked() && !window.confirm('Not all requests have been sent yet. Leave the page anyway?'),
    enableBeforeUnload: () => isSending,
  });
}
