import { example } from '../examples.ts'
import { limits } from '../limits.ts'
import { operation } from '../operation.ts'
import { page } from '../parameters.ts'
import { CreateSample, Done, Preview, Sample, Upload, uploadNamePattern } from '../schemas.ts'
import { Type } from '../type.ts'

/** Uploaded files, and sample data. */
export const uploads = {
  listUploads: operation({
    tag: 'Uploads',
    summary: 'List uploaded files',
    description: 'Lists the uploaded files of the sub-account that are still kept, newest first.',
    actsIn: 'account',
    scope: 'connections:read',
    query: { ...page },
    reply: Upload,
    list: 'paged',
    done: 'Uploaded files listed',
  }),
  createUpload: operation({
    tag: 'Uploads',
    summary: 'Upload a file',
    description:
      'Uploads a file that connections of the sub-account can read with the connector *Uploaded file*: CSV, JSON, Excel (.xlsx), Parquet, Avro or DuckDB, optionally compressed with gzip, zstd or bzip2. The body is the unchanged file. It is stored sealed, cannot be downloaded, and is deleted at `expiresTime`. An interrupted upload is not stored.',
    actsIn: 'account',
    scope: 'connections:write',
    query: {
      name: Type.String({
        pattern: uploadNamePattern,
        default: 'upload',
        description: `Name of the file, 1 to ${limits.uploadNameLengthMax} characters without slashes and control characters`,
        examples: [example.uploadName],
      }),
    },
    file: true,
    reply: Upload,
    success: 201,
    done: 'File uploaded',
    refusals: ['quota_exceeded'],
  }),
  getUpload: operation({
    tag: 'Uploads',
    summary: 'Get an uploaded file',
    description: 'Returns the name, the size and the times of an uploaded file, but never its content.',
    actsIn: 'account',
    scope: 'connections:read',
    reply: Upload,
    done: 'Uploaded file found',
  }),
  deleteUpload: operation({
    tag: 'Uploads',
    summary: 'Delete an uploaded file',
    description:
      'Deletes an uploaded file with its content. Transfers that read it fail, and connections that name it need another one.',
    actsIn: 'account',
    scope: 'connections:write',
    reply: Done,
    done: 'Uploaded file deleted',
  }),
  getSample: operation({
    tag: 'Uploads',
    summary: 'Get the sample',
    description:
      'Returns the sample data of the sub-account, and whether this deployment can have any. Without a sample, and without `accountId`, the identifiers are null.',
    actsIn: 'organization or account',
    scope: 'connections:read',
    reply: Sample,
    done: 'Sample found',
  }),
  createSample: operation({
    tag: 'Uploads',
    summary: 'Create the sample',
    description:
      'Creates a separate database and role in the embedded PostgreSQL, adds the connectors, creates an active connection from the uploaded file to the table `people`, and starts its transfer: all or nothing. If the sub-account already has a sample, it is returned and nothing is changed.',
    actsIn: 'account',
    scope: 'connections:write',
    body: CreateSample,
    reply: Sample,
    success: 201,
    already: 'This sub-account has a sample already',
    done: 'Sample created',
    refusals: ['sample_not_available', 'quota_exceeded', 'configuration_exists'],
  }),
  deleteSample: operation({
    tag: 'Uploads',
    summary: 'Remove the sample',
    description:
      'Deletes the connection of the sample, its uploaded file, the configuration and the connectors that only the sample uses, and permanently deletes its table, its database and its role.',
    actsIn: 'account',
    scope: 'connections:write',
    reply: Done,
    done: 'Sample removed',
    refusals: ['sample_not_available', 'configuration_in_use', 'configuration_is_first'],
  }),
  previewSample: operation({
    tag: 'Uploads',
    summary: 'Read rows of the sample',
    description: 'Reads up to 100 rows from the table of the sample, as they are stored there.',
    reads: true,
    actsIn: 'account',
    scope: 'records:read',
    reply: Preview,
    done: 'Rows of the sample read',
    refusals: ['sample_not_available', 'platform_refused'],
  }),
} as const
