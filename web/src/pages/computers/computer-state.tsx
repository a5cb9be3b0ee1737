import { StateMark } from '../../ui/state-mark.tsx';
import { computerState, type Described } from './describe-computer.ts';

/** The state of a computer, by colour, shape and text. */
export function ComputerState({ computer }: { computer: Described }) {
  const { tone, label } = computerState(computer);
  return <StateMark tone={tone}>{label}</StateMark>;
}

/** Tags, each of which is text of its own. */
export function Tags({ tags }: { tags: readonly string[] }) {
  return (
    <span className="tags">
      {tags.map((tag) => (
        <span key={tag} className="tag">
          <bdi>{tag}</bdi>
        </span>
      ))}
    </span>
  );
}
