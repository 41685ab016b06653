import { Button } from '@mantine/core'
import type { Connection, Transfer, TransferErrorCode, transferErrors } from '@penstock/wire'
import { type ReactNode, useState } from 'react'
import { useRead, useWrite } from '../../api/queries.ts'
import { Activate } from '../../components/activate.tsx'
import { notifyOutcome } from '../../components/notify.ts'
import { authorization as say } from '../../strings/authorization.ts'
import { blamedSide, type SideSummary } from '../transfer/blame.ts'
import { SmallConnectButton } from './connect-button.tsx'
import { parametersOf } from './of-account.ts'
import { isConnectable, useAuthorization } from './use-connect.ts'

/** Connections that are broken since a user of a platform took back what was granted, or it expired. */

type Errors = typeof transferErrors
type CredentialsCode = {
  [Code in TransferErrorCode]: Errors[Code]['action'] extends 'reauthenticate' ? Code : never
}[TransferErrorCode]
const codes: Readonly<Record<CredentialsCode, true>> = { invalid_credentials: true, expired_credentials: true }

type Failing = Pick<Connection, 'src' | 'dest' | 'status'>

/** The side whose credentials the platform does not accept any more; undefined where the connection is not broken for that reason. */
export function refusedSide(
  connection: Failing,
  transfer: Pick<Transfer, 'status' | 'error'> | null | undefined,
): SideSummary | undefined {
  const { status, error } = transfer ?? {}
  if (connection.status !== 'broken' || status !== 'failed' || !error || !Object.hasOwn(codes, error.code)) return
  return blamedSide(connection, error)
}

/**
 * Connects the connector again, and once that is done, activates the connection.
 * @param children shown where the connector is not connected with a click
 */
export function Reconnect({
  connection,
  side,
  failedTime,
  variant = 'filled',
  children = null,
}: {
  connection: Pick<Connection, 'accountId' | 'id' | 'name' | 'src' | 'dest'>
  side: SideSummary
  /** When the transfer failed, in seconds since 1970. */
  failedTime: number | null
  variant?: 'filled' | 'light'
  children?: ReactNode
}) {
  const { accountId, id, name } = connection
  const { connectorId, connectorName } = side
  const definition = useRead('getConnectorDefinition', { id: connectorId }).data?.reply
  const enabled = Boolean(definition?.authorization)
  const details = useRead('getConnection', { accountId, id }, { enabled }).data?.reply
  const configurationId = details?.[connection.src === side ? 'srcConfigurationId' : 'destConfigurationId']
  const of = { accountId, connectorId, configurationId }
  const isKnown = { enabled: configurationId !== undefined }
  const authorization = useAuthorization(of, definition, isKnown).data?.reply
  const configuration = useRead('getConnectorConfiguration', parametersOf(of), {
    enabled: authorization?.authorized === true,
  }).data?.reply
  const setStatus = useWrite('updateConnectionStatus')
  const [isAsked, setAsked] = useState(false)
  if (!definition?.authorization || !authorization?.authorized || !isConnectable(authorization)) return children
  if (!configuration?.editable) return children
  const activate = () =>
    void notifyOutcome(setStatus.mutateAsync({ accountId, id, body: { action: 'activate' } }), say.activated(name))
  // Whether the credentials were saved after the refusal.
  const isNew = failedTime !== null && configuration.lastUpdated >= failedTime
  return (
    <>
      {isNew ? (
        <Button
          size="compact-sm"
          variant={variant}
          loading={setStatus.isPending}
          aria-label={say.activateOf(name)}
          onClick={() => setAsked(true)}
          style={{ flex: 'none' }}
        >
          {say.activate}
        </Button>
      ) : (
        <SmallConnectButton
          {...of}
          variant={variant}
          platform={definition.authorization.platform}
          label={say.reconnect}
          fullLabel={say.reconnectOf(connectorName)}
        />
      )}
      {isAsked && (
        <Activate connection={{ accountId, id, name }} onActivate={activate} onClose={() => setAsked(false)} />
      )}
    </>
  )
}
