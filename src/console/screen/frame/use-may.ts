import type { Permission } from '../../api/caller.ts';
import { useCaller } from '../../run/queries/use-service.ts';
import { useText } from '../../text/use-text.tsx';

/** Says which permission is missing for something, or null where it may be done. Until it is known, the service decides. */
export function useLacks(): (permission: Permission) => string | null {
  const { say } = useText();
  const { data: caller } = useCaller();
  return (permission) =>
    caller === undefined || caller.may.has(permission) ? null : say('may.not', { name: caller.name ?? '', permission });
}
