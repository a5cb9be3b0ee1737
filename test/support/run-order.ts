import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files of whole stacks come first: they take longest, and wait so much that other files run meanwhile. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isSystem = ({ project }: TestSpecification): number => Number(project.name === 'system');
    return sorted.toSorted((a, b) => isSystem(b) - isSystem(a));
  }
}
