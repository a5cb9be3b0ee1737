import type { ReactNode } from 'react';
import { ComputerActionForm, type ComputerActionProps } from '../computer-action-form.tsx';
import { addTagsForm, annotateForm, moveForm, removeAnnotationForm, removeTagsForm } from './edits.tsx';
import type { FormDefinition } from './form.tsx';
import { kernelForm } from './kernel.tsx';
import { archiveForm, deleteForm, powerForm, recoveryKeyForm, sanitizeForm, signalForm } from './machines.tsx';
import { packageForm } from './packages.tsx';
import { scriptForm } from './scripts.tsx';
import { snapForm } from './snaps.tsx';

/** A form, and what it reads of each computer. */
export interface RegisteredForm {
  Component: (props: ComputerActionProps) => ReactNode;
  withAnnotations: boolean;
  withArchived: boolean;
}

function register<F extends object>(form: FormDefinition<F>): RegisteredForm {
  const { withAnnotations = false, withArchived = false } = form;
  return { Component: (props) => <ComputerActionForm form={form} {...props} />, withAnnotations, withArchived };
}

/** The form of each action, by its id. */
export const FORMS: ReadonlyMap<string, RegisteredForm> = new Map([
  ['install-snaps', register(snapForm('install'))],
  ['refresh-snaps', register(snapForm('refresh'))],
  ['remove-snaps', register(snapForm('remove'))],
  ['hold-snaps', register(snapForm('hold'))],
  ['unhold-snaps', register(snapForm('unhold'))],
  ['install-packages', register(packageForm('install'))],
  ['upgrade-packages', register(packageForm('upgrade'))],
  ['downgrade-packages', register(packageForm('downgrade'))],
  ['remove-packages', register(packageForm('remove'))],
  ['hold-packages', register(packageForm('hold'))],
  ['unhold-packages', register(packageForm('unhold'))],
  ['run-script', register(scriptForm)],
  ['terminate-processes', register(signalForm('terminate'))],
  ['kill-processes', register(signalForm('kill'))],
  ['restart', register(powerForm('restart'))],
  ['shutdown', register(powerForm('shutdown'))],
  ['upgrade-kernel', register(kernelForm('upgrade'))],
  ['downgrade-kernel', register(kernelForm('downgrade'))],
  ['add-tags', register(addTagsForm)],
  ['remove-tags', register(removeTagsForm)],
  ['annotate', register(annotateForm)],
  ['remove-annotation', register(removeAnnotationForm)],
  ['change-access-group', register(moveForm)],
  ['generate-recovery-key', register(recoveryKeyForm)],
  ['sanitize', register(sanitizeForm)],
  ['archive', register(archiveForm)],
  ['delete', register(deleteForm)],
]);
