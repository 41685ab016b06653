import { Alert, Anchor, Group, List, Text } from '@mantine/core'
import { PenstockError } from '@penstock/client'
import type { Connection, ConnectionDetails, FieldError } from '@penstock/wire'
import { IconListCheck } from '@tabler/icons-react'
import { Link } from 'react-router'
import { useRead } from '../../api/queries.ts'
import { pathOf } from '../../shell/account.ts'
import { authorization as sayAuthorization } from '../../strings/authorization.ts'
import { newConnection as say } from '../../strings/new-connection.ts'
import { SmallConnectButton } from '../connectors/connect-button.tsx'
import { configureAt } from '../connectors/of-account.ts'
import { isConnectable, useAuthorization } from '../connectors/use-connect.ts'
import { writeTargets } from './set/targets.ts'
import { sideOf, sides } from './settings.ts'
import { useWizard, type WizardStep } from './wizard.ts'

/** Missing values before a connection can carry data, each with a link to the place where the user can add it. */
export function MissingList({
  error,
  missing,
  connection,
  title,
}: {
  /** A refusal of which every detail is something that is missing. */
  error?: unknown
  missing?: readonly FieldError[]
  connection: ConnectionDetails
  title: string
}) {
  const fieldErrors = missing ?? (error instanceof PenstockError ? error.details : [])
  return (
    <Alert
      variant="default"
      icon={<IconListCheck color="var(--mantine-color-orange-filled)" aria-hidden />}
      title={title}
    >
      <List size="sm" spacing={6}>
        {fieldErrors.map((fieldError) => (
          <List.Item key={fieldError.field}>
            <Missing fieldError={fieldError} connection={connection} />
          </List.Item>
        ))}
      </List>
    </Alert>
  )
}

function Missing({ fieldError: { field }, connection }: { fieldError: FieldError; connection: ConnectionDetails }) {
  const { accountId, set, targets } = useWizard()
  const side = sides.find(({ key }) => field.startsWith(key)) ?? sides[0]
  const { connectorId, connectorName } = connection[side.key]
  const definition = useRead('getConnectorDefinition', { id: connectorId }).data?.reply
  const [place = '', name = ''] = field.split('.')
  const of = { accountId, connectorId, configurationId: connection[`${side.key}ConfigurationId`] }
  const authorization = useAuthorization(of, definition).data?.reply
  const byClick = isConnectable(authorization) ? definition?.authorization : undefined
  const ofConnector = place === `${side.key}Connector`
  const fields = definition && (ofConnector ? definition.secretFields : sideOf(definition, side.role).fields)
  const label = fields?.find((one) => one.name === name)?.label ?? name
  if (ofConnector) {
    const path = pathOf(accountId, configureAt(connectorId, of.configurationId))
    if (name === '' && byClick) {
      const platform = byClick.platform
      return (
        <Group gap="sm">
          {say.missingConfiguration(connectorName)}
          <SmallConnectButton
            {...of}
            platform={platform}
            label={sayAuthorization.connect(platform)}
            fullLabel={sayAuthorization.connect(platform)}
          />
        </Group>
      )
    }
    return (
      <Text span inherit>
        {name === '' ? say.missingConfiguration(connectorName) : say.missingSecret(connectorName, label)}{' '}
        <Anchor component={Link} to={path} inherit underline="always">
          {say.configure(connectorName)}
        </Anchor>
      </Text>
    )
  }
  const step: WizardStep = name === 'mapping' ? 'mapping' : 'settings'
  return (
    <Text span inherit>
      {say.missingSetting(side.key === 'src' ? say.source : say.destination, label)}{' '}
      <Anchor
        component={Link}
        to={`?${linkTo(connection, step, set === '' ? {} : { set, targets: writeTargets(targets) })}`}
        inherit
        underline="always"
      >
        {say.fillIn(label)}
      </Anchor>
    </Text>
  )
}

const linkTo = (connection: Connection, step: WizardStep, set: Readonly<Record<string, string>>) =>
  new URLSearchParams({
    ...set,
    source: connection.src.connectorId,
    destination: connection.dest.connectorId,
    connection: connection.id,
    step,
  }).toString()
