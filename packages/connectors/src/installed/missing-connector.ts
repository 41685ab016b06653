import { ConnectorError } from '@penstock/connector'

/**
 * The error of an added connector whose code this machine cannot load.
 * @param place the folder of the connector
 * @param reason the rest of a sentence
 */
export const missingConnector = (slug: string, place: string, reason: string, cause: unknown): ConnectorError =>
  new ConnectorError(
    'connector_missing',
    `This machine cannot load the connector ${slug} from ${place}: ${reason}. Ask your operator to restore this folder so that runners can read it, or to add the connector again with the command \`connector add\` of Penstock.`,
    { cause },
  )
