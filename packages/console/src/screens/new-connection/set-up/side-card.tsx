import { Card, Group, Stack, Text, Title } from '@mantine/core'
import { type ConnectorDefinition, type Upload, uploadedFileConnectorId } from '@penstock/wire'
import { useState } from 'react'
import { useRead } from '../../../api/queries.ts'
import { Logo, logoOfPlatform } from '../../../components/connector-name.tsx'
import type { FormField, FormValue, FormValues } from '../../../components/fields/form-field.ts'
import { SettingsForm } from '../../../components/fields/settings-form.tsx'
import { ConfigurationBadge } from '../../../components/status.tsx'
import { isUpload } from '../../../components/upload-name.tsx'
import { newConnection as say } from '../../../strings/new-connection.ts'
import { PickConfiguration } from '../../connectors/pick-configuration.tsx'
import { type ConnectionSide, sideOf } from '../settings.ts'
import { useWizard } from '../wizard.ts'
import { Configuration } from './configuration.tsx'
import { UploadHere } from './upload-here.tsx'
import type { UsedSide } from './use-side.ts'

/** One side of the connection: the configuration, which all connections share, and the settings of this one. */
export function SideCard({
  side: { key, role },
  definition,
  fields,
  values,
  fieldErrors,
  used,
  onConfiguration,
  onUploaded,
  onChange,
}: {
  side: ConnectionSide
  definition: ConnectorDefinition
  fields: readonly FormField[]
  values: FormValues
  fieldErrors: Readonly<Record<string, string>>
  used: UsedSide
  onConfiguration: (configurationId: string) => void
  /** Called with a file that was uploaded here. */
  onUploaded: (upload: Pick<Upload, 'id' | 'name'>) => void
  onChange: (name: string, value: FormValue) => void
}) {
  const { accountId } = useWizard()
  const [added, setAdded] = useState<string>()
  const { connectorId, name: brand } = definition
  const connector = useRead('getConnector', { accountId, id: connectorId })
  const upload = useUploadName(accountId, connectorId, values.upload)
  const { platformId } = connector.data?.reply ?? {}
  const title = key === 'src' ? say.source : say.destination
  return (
    <Card withBorder component="section" aria-label={`${title}: ${used.name}`} padding="lg">
      <Stack gap="lg">
        <Group gap="sm" wrap="nowrap" align="flex-start">
          {platformId && <Logo src={logoOfPlatform(platformId)} size={32} />}
          <Stack gap={0} miw={0} flex={1}>
            <Title order={2} size="h4" style={{ overflowWrap: 'anywhere' }}>
              {key === 'src' ? say.readFrom(used.name) : say.writeTo(used.name)}
            </Title>
            {used.name !== brand && (
              <Text size="sm" c="dimmed">
                {brand}
              </Text>
            )}
          </Stack>
          <ConfigurationBadge standing={used.standing} why={used.why} />
        </Group>
        {sideOf(definition, role).integrated === false && (
          <Text size="sm" c="dimmed">
            {say.movesNothingYet(brand)}
          </Text>
        )}
        <PickConfiguration
          accountId={accountId}
          connectorId={connectorId}
          connectorName={brand}
          configurationId={used.configurationId}
          asksNothing={definition.secretFields.length === 0}
          onPick={onConfiguration}
          onAdded={setAdded}
        >
          <Configuration
            key={used.other}
            definition={definition}
            configurationId={used.other}
            isNew={used.other !== undefined && used.other === added}
          />
        </PickConfiguration>
        {connectorId === uploadedFileConnectorId && <UploadHere onUploaded={onUploaded} />}
        {fields.length === 0 ? (
          <Text size="sm" c="dimmed">
            {say.noSettings}
          </Text>
        ) : (
          <SettingsForm
            fields={fields}
            values={values}
            onChange={onChange}
            fieldErrors={fieldErrors}
            role={role}
            discovery={used.discovery}
            fileName={upload}
          />
        )}
      </Stack>
    </Card>
  )
}

/** The name of the uploaded file that is read, which tells its format. */
function useUploadName(accountId: string, connectorId: string, value: FormValue | undefined): string | undefined {
  const enabled = connectorId === uploadedFileConnectorId && isUpload(connectorId, value)
  return useRead('getUpload', { accountId, id: String(value ?? '') }, { enabled }).data?.reply.name
}
