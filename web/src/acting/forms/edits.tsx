import { useQuery } from '@tanstack/react-query';
import { accessGroupsQuery, tagsQuery } from '../../api/lists.ts';
import { SelectField, TextArea } from '../../ui/field.tsx';
import { bodyError } from '../field-errors.ts';
import {
  type AnnotationFields,
  type GroupFields,
  planAddTags,
  planAnnotate,
  planMove,
  planRemoveAnnotation,
  planRemoveTags,
  type TagFields,
} from '../plans/edits.ts';
import type { Target } from '../targets.ts';
import type { FormDefinition, FieldsProps } from './form.tsx';
import { NameField } from './name-field.tsx';

export const addTagsForm: FormDefinition<TagFields> = {
  initial: { tags: '' },
  Fields: (props) => <TagFieldSet suggestions={useAllTags()} {...props} />,
  usePlan: planAddTags,
  delivery: 'none',
};

export const removeTagsForm: FormDefinition<TagFields> = {
  initial: { tags: '' },
  Fields: (props) => <TagFieldSet suggestions={valuesOf(props.targets, ({ tags }) => tags)} {...props} />,
  usePlan: planRemoveTags,
  delivery: 'none',
};

export const annotateForm: FormDefinition<AnnotationFields> = {
  initial: { key: '', value: '' },
  Fields: (props) => (
    <>
      <KeyField {...props} />
      <TextArea
        label="Text"
        required
        error={bodyError(props.error, 'value')}
        value={props.fields.value}
        onChange={(event) => props.change({ value: event.target.value })}
      />
    </>
  ),
  usePlan: planAnnotate,
  delivery: 'none',
  withAnnotations: true,
};

export const removeAnnotationForm: FormDefinition<AnnotationFields> = {
  initial: { key: '', value: '' },
  Fields: KeyField,
  usePlan: planRemoveAnnotation,
  delivery: 'none',
  withAnnotations: true,
};

export const moveForm: FormDefinition<GroupFields> = {
  initial: { group: '' },
  Fields: GroupFieldSet,
  usePlan: planMove,
  delivery: 'none',
};

function TagFieldSet({
  fields,
  change,
  error,
  suggestions,
}: FieldsProps<TagFields> & { suggestions: readonly string[] }) {
  return (
    <NameField
      label="Tags"
      hint="Of letters, digits and dashes, separated by spaces or commas."
      error={bodyError(error, 'tags')}
      value={fields.tags}
      onChange={(tags) => change({ tags })}
      suggestions={suggestions}
    />
  );
}

function KeyField({ fields, change, error, targets }: FieldsProps<AnnotationFields>) {
  return (
    <NameField
      single
      label="Name"
      hint="Without spaces, colons and quotes."
      error={bodyError(error, 'key')}
      value={fields.key}
      onChange={(key) => change({ key })}
      suggestions={valuesOf(targets, ({ annotations }) => Object.keys(annotations))}
    />
  );
}

function GroupFieldSet({ fields, change, error }: FieldsProps<GroupFields>) {
  const { data } = useQuery(accessGroupsQuery);
  const groups = data?.map(({ name, title }) => ({ value: name, label: title })) ?? [];
  return (
    <SelectField
      label="Access group"
      required
      options={[{ value: '', label: 'Choose an access group' }, ...groups]}
      error={bodyError(error, 'access_group')}
      value={fields.group}
      onChange={(event) => change({ group: event.target.value })}
    />
  );
}

function useAllTags(): readonly string[] {
  const { data } = useQuery(tagsQuery);
  return data ?? [];
}

function valuesOf(targets: readonly Target[], values: (target: Target) => readonly string[]): string[] {
  return [...new Set(targets.flatMap(values))].toSorted();
}
