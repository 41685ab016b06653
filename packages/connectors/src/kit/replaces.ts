import type { Values } from '@penstock/connector'
import { objectIn, parseJson, textIn } from '../platform-api/json.ts'
import type { AudienceDestination } from './audience-facts.ts'

/**
 * Whether a transfer replaces the members of every audience that it adds to: by its setting, or by an action that its mapping
 * sets for all rows.
 */
export const replacesAll = (
  { replace }: Pick<AudienceDestination, 'replace'>,
  { replaceExistingAudience, mapping }: Values,
): boolean =>
  replace !== undefined &&
  (replaceExistingAudience === true || (replace.byRows === true && isReplace(actionOfAll(mapping))))

/** The action that a mapping sets for all rows. */
const actionOfAll = (mapping: unknown): string | undefined =>
  textIn(objectIn(objectIn(parseJson(String(mapping ?? ''))).action).value)

/** Whether an action replaces the members of an audience. */
export const isReplace = (action: string | undefined): boolean => action?.trim().toLowerCase() === 'replace'
