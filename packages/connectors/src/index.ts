import { acousticRelationalTables } from './acoustic/acoustic-relational-tables.ts'
import { activecampaign } from './activecampaign/activecampaign.ts'
import { activecampaignEvents } from './activecampaign/activecampaign-events.ts'
import { adjustCallbacks } from './adjust/adjust-callbacks.ts'
import { adobeAudienceManager } from './adobe/adobe-audience-manager.ts'
import { amazonAdsDataManagerAudiences } from './amazon-ads/amazon-ads-data-manager-audiences.ts'
import { amazonAdsDataManagerDspAudiences } from './amazon-ads/amazon-ads-data-manager-dsp-audiences.ts'
import { amazonAdsDspAudiences } from './amazon-ads/amazon-ads-dsp-audiences.ts'
import { amazonAdsDspEvents } from './amazon-ads/amazon-ads-dsp-events.ts'
import { amazonAdsReporting } from './amazon-ads/amazon-ads-reporting.ts'
import { amazonDspConversions } from './amazon-ads/amazon-dsp-conversions.ts'
import { amazonS3Destination } from './amazon-s3/amazon-s3-destination.ts'
import { amazonS3Source } from './amazon-s3/amazon-s3-source.ts'
import { amplitude } from './amplitude/amplitude.ts'
import { appleSearchAds } from './apple-ads/apple-search-ads.ts'
import { appsflyerPushApi } from './appsflyer/appsflyer-push-api.ts'
import { attentive } from './attentive/attentive.ts'
import { azureBlobStorageDestination } from './azure-blob-storage/azure-blob-storage-destination.ts'
import { azureBlobStorageSource } from './azure-blob-storage/azure-blob-storage-source.ts'
import { bingAdsReporting } from './bing-ads/bing-ads-reporting.ts'
import { branchWebhooks } from './branch/branch-webhooks.ts'
import { braze } from './braze/braze.ts'
import { makeCatalogue } from './catalogue.ts'
import { clickhouseDestination } from './clickhouse/clickhouse-destination.ts'
import { clickhouseSource } from './clickhouse/clickhouse-source.ts'
import { criteoCommerceGrowthAudiences } from './criteo/criteo-commerce-growth-audiences.ts'
import { criteoReporting } from './criteo/criteo-reporting.ts'
import { criteoRetailMediaAudiences } from './criteo/criteo-retail-media-audiences.ts'
import { criteoRetailMediaReporting } from './criteo/criteo-retail-media-reporting.ts'
import { customerIo } from './customer-io/customer-io.ts'
import { databricksDestination } from './databricks/databricks-destination.ts'
import { databricksSource } from './databricks/databricks-source.ts'
import { dv360CustomerMatch } from './display-video-360/dv360-customer-match.ts'
import { dv360Reporting } from './display-video-360/dv360-reporting.ts'
import { dropbox } from './dropbox/dropbox.ts'
import { ecapiEvents } from './ecapi/ecapi-events.ts'
import { eventStream } from './event-stream/event-stream.ts'
import { fileUpload } from './file-upload/file-upload.ts'
import { googleAdManager } from './google-ad-manager/google-ad-manager.ts'
import { googleAdsCampaignPosting } from './google-ads/google-ads-campaign-posting.ts'
import { googleAdsClickConversions } from './google-ads/google-ads-click-conversions.ts'
import { googleAdsConversionAdjustments } from './google-ads/google-ads-conversion-adjustments.ts'
import { googleAdsConversions } from './google-ads/google-ads-conversions.ts'
import { googleAdsCustomerMatch } from './google-ads/google-ads-customer-match.ts'
import { googleAdsLeadForms } from './google-ads/google-ads-lead-forms.ts'
import { googleAdsOfflineConversions } from './google-ads/google-ads-offline-conversions.ts'
import { googleAdsReporting } from './google-ads/google-ads-reporting.ts'
import { googleDataManagerAudiences } from './google-ads/google-data-manager-audiences.ts'
import { googleAnalytics4 } from './google-analytics/google-analytics-4.ts'
import { googleBigqueryDestination } from './google-bigquery/google-bigquery-destination.ts'
import { googleBigquerySource } from './google-bigquery/google-bigquery-source.ts'
import { campaignManager360Conversions } from './google-campaign-manager-360/campaign-manager-360-conversions.ts'
import { googleCloudStorageDestination } from './google-cloud-storage/google-cloud-storage-destination.ts'
import { googleCloudStorageSource } from './google-cloud-storage/google-cloud-storage-source.ts'
import { googleSearchConsole } from './google-search-console/google-search-console.ts'
import { googleSheets } from './google-sheets/google-sheets.ts'
import { httpApi } from './http-api/http-api.ts'
import { httpsFile } from './https-file/https-file.ts'
import { hubspotCrm } from './hubspot/hubspot-crm.ts'
import { hubspotCustomEvents } from './hubspot/hubspot-custom-events.ts'
import { intercom } from './intercom/intercom.ts'
import { iterable } from './iterable/iterable.ts'
import { kafka } from './kafka/kafka.ts'
import { klaviyo } from './klaviyo/klaviyo.ts'
import { linkedinAudienceInsights } from './linkedin/linkedin-audience-insights.ts'
import { linkedinAnalytics } from './linkedin-ads/linkedin-analytics.ts'
import { linkedinCompanySegments } from './linkedin-ads/linkedin-company-segments.ts'
import { linkedinDmpSegments } from './linkedin-ads/linkedin-dmp-segments.ts'
import { linkedinLeadForms } from './linkedin-ads/linkedin-lead-forms.ts'
import { linkedinOfflineConversions } from './linkedin-ads/linkedin-offline-conversions.ts'
import { liverampEnvelopeDecryption } from './liveramp/liveramp-envelope-decryption.ts'
import { liverampIdMatch } from './liveramp/liveramp-id-match.ts'
import { liverampTranscoding } from './liveramp/liveramp-transcoding.ts'
import { localFolder } from './local-folder/local-folder.ts'
import { lotameAudiences } from './lotame/lotame-audiences.ts'
import { mailchimp } from './mailchimp/mailchimp.ts'
import { marketo } from './marketo/marketo.ts'
import { metaAppEvents } from './meta/meta-app-events.ts'
import { metaCampaignPosting } from './meta-ads/meta-campaign-posting.ts'
import { metaConversions } from './meta-ads/meta-conversions.ts'
import { metaCustomAudiences } from './meta-ads/meta-custom-audiences.ts'
import { metaInsights } from './meta-ads/meta-insights.ts'
import { metaLeadForms } from './meta-ads/meta-lead-forms.ts'
import { microsoftAdsCustomerMatch } from './microsoft-advertising/microsoft-ads-customer-match.ts'
import { microsoftAdsEvents } from './microsoft-advertising/microsoft-ads-events.ts'
import { microsoftUetConversions } from './microsoft-advertising/microsoft-uet-conversions.ts'
import { mixpanel } from './mixpanel/mixpanel.ts'
import { mparticleAudience } from './mparticle/mparticle-audience.ts'
import { mparticleEvents } from './mparticle/mparticle-events.ts'
import { mysql } from './mysql/mysql.ts'
import { nexxenAudiences } from './nexxen/nexxen-audiences.ts'
import { outcomes } from './outcomes/outcomes.ts'
import { pinterestAdsAnalytics } from './pinterest-ads/pinterest-ads-analytics.ts'
import { pinterestAdsManagement } from './pinterest-ads/pinterest-ads-management.ts'
import { pinterestCampaignPosting } from './pinterest-ads/pinterest-campaign-posting.ts'
import { pinterestConversions } from './pinterest-ads/pinterest-conversions.ts'
import { pinterestCustomerLists } from './pinterest-ads/pinterest-customer-lists.ts'
import { postgresql } from './postgresql/postgresql.ts'
import { radarGeoEvents } from './radar/radar-geo-events.ts'
import { redditAdsReporting } from './reddit-ads/reddit-ads-reporting.ts'
import { redditAudiences } from './reddit-ads/reddit-audiences.ts'
import { redditConversions } from './reddit-ads/reddit-conversions.ts'
import { amazonRedshiftDestination } from './redshift/amazon-redshift-destination.ts'
import { amazonRedshiftSource } from './redshift/amazon-redshift-source.ts'
import { rejectedRecords } from './rejected-records/rejected-records.ts'
import { salesforceCrm } from './salesforce/salesforce-crm.ts'
import { salesforceMarketingCloudContacts } from './salesforce-marketing-cloud/salesforce-marketing-cloud-contacts.ts'
import { salesforceMarketingCloudDataExtensions } from './salesforce-marketing-cloud/salesforce-marketing-cloud-data-extensions.ts'
import { salesforceMarketingCloudJourneys } from './salesforce-marketing-cloud/salesforce-marketing-cloud-journeys.ts'
import { sendgrid } from './sendgrid/sendgrid-contacts.ts'
import { sftpDestination } from './sftp/sftp-destination.ts'
import { sftpSource } from './sftp/sftp-source.ts'
import { shopifyAdmin } from './shopify/shopify-admin.ts'
import { snapchatConversions } from './snapchat-ads/snapchat-conversions.ts'
import { snapchatCustomerLists } from './snapchat-ads/snapchat-customer-lists.ts'
import { snapchatReporting } from './snapchat-ads/snapchat-reporting.ts'
import { snowflakeDestination } from './snowflake/snowflake-destination.ts'
import { snowflakeSource } from './snowflake/snowflake-source.ts'
import { spotifyAds } from './spotify/spotify-ads.ts'
import { stripeBilling } from './stripe/stripe-billing.ts'
import { taboolaBackstage } from './taboola/taboola-backstage.ts'
import { theTradeDeskCrmAudiences } from './the-trade-desk/the-trade-desk-crm-audiences.ts'
import { theTradeDeskFirstPartyAudiences } from './the-trade-desk/the-trade-desk-first-party-audiences.ts'
import { theTradeDeskMyReports } from './the-trade-desk/the-trade-desk-my-reports.ts'
import { theTradeDeskOfflineConversions } from './the-trade-desk/the-trade-desk-offline-conversions.ts'
import { theTradeDeskRealTimeConversions } from './the-trade-desk/the-trade-desk-real-time-conversions.ts'
import { theTradeDeskReds } from './the-trade-desk/the-trade-desk-reds.ts'
import { tiktokAdReporting } from './tiktok-ads/tiktok-ad-reporting.ts'
import { tiktokAudienceManagement } from './tiktok-ads/tiktok-audience-management.ts'
import { tiktokCustomerFileAudiences } from './tiktok-ads/tiktok-customer-file-audiences.ts'
import { tiktokEvents } from './tiktok-ads/tiktok-events.ts'
import { tiktokLeadForms } from './tiktok-ads/tiktok-lead-forms.ts'
import { euidIdentityMap } from './uid2/euid-identity-map.ts'
import { uid2IdentityMap } from './uid2/uid2-identity-map.ts'
import { webhook } from './webhook/webhook.ts'
import { withdrawnConnectors } from './withdrawn.ts'
import { xCustomAudiences } from './x-ads/x-custom-audiences.ts'
import { xAdAnalytics } from './x-twitter/x-ad-analytics.ts'
import { xCampaignMeasurement } from './x-twitter/x-campaign-measurement.ts'
import { yahooDspAudiences } from './yahoo-dsp/yahoo-dsp-audiences.ts'
import { yahooDspConversions } from './yahoo-dsp/yahoo-dsp-conversions.ts'
import { yahooDspReporting } from './yahoo-dsp/yahoo-dsp-reporting.ts'

/** The list of connectors. Add a new connector here, under its platform, and nowhere else. */
export const { connectors, listedConnectors, platforms, connectorById } = makeCatalogue([
  acousticRelationalTables,
  activecampaign,
  activecampaignEvents,
  adobeAudienceManager,
  amazonAdsDataManagerAudiences,
  amazonAdsDataManagerDspAudiences,
  amazonAdsDspAudiences,
  amazonAdsDspEvents,
  amazonAdsReporting,
  amazonDspConversions,
  amazonS3Destination,
  amazonS3Source,
  appleSearchAds,
  azureBlobStorageDestination,
  azureBlobStorageSource,
  bingAdsReporting,
  braze,
  clickhouseDestination,
  clickhouseSource,
  criteoCommerceGrowthAudiences,
  criteoReporting,
  criteoRetailMediaAudiences,
  criteoRetailMediaReporting,
  customerIo,
  databricksDestination,
  databricksSource,
  dv360CustomerMatch,
  dv360Reporting,
  dropbox,
  ecapiEvents,
  eventStream,
  fileUpload,
  googleAdManager,
  googleAdsCampaignPosting,
  googleAdsClickConversions,
  googleAdsConversionAdjustments,
  googleAdsConversions,
  googleAdsCustomerMatch,
  googleAdsLeadForms,
  googleAdsOfflineConversions,
  googleAdsReporting,
  googleDataManagerAudiences,
  googleAnalytics4,
  googleBigqueryDestination,
  googleBigquerySource,
  campaignManager360Conversions,
  googleCloudStorageDestination,
  googleCloudStorageSource,
  httpApi,
  httpsFile,
  googleSearchConsole,
  googleSheets,
  hubspotCrm,
  amplitude,
  attentive,
  hubspotCustomEvents,
  intercom,
  marketo,
  mixpanel,
  sendgrid,
  iterable,
  kafka,
  klaviyo,
  linkedinAudienceInsights,
  linkedinAnalytics,
  linkedinCompanySegments,
  linkedinDmpSegments,
  linkedinLeadForms,
  linkedinOfflineConversions,
  liverampEnvelopeDecryption,
  liverampIdMatch,
  liverampTranscoding,
  localFolder,
  lotameAudiences,
  mailchimp,
  metaAppEvents,
  metaCampaignPosting,
  metaConversions,
  metaCustomAudiences,
  metaInsights,
  metaLeadForms,
  microsoftAdsCustomerMatch,
  microsoftAdsEvents,
  microsoftUetConversions,
  mparticleAudience,
  mparticleEvents,
  mysql,
  nexxenAudiences,
  pinterestAdsAnalytics,
  pinterestAdsManagement,
  pinterestCampaignPosting,
  pinterestConversions,
  pinterestCustomerLists,
  postgresql,
  redditAdsReporting,
  radarGeoEvents,
  adjustCallbacks,
  appsflyerPushApi,
  branchWebhooks,
  redditAudiences,
  redditConversions,
  amazonRedshiftDestination,
  amazonRedshiftSource,
  outcomes,
  rejectedRecords,
  salesforceCrm,
  salesforceMarketingCloudContacts,
  salesforceMarketingCloudDataExtensions,
  salesforceMarketingCloudJourneys,
  sftpDestination,
  sftpSource,
  shopifyAdmin,
  snapchatConversions,
  snapchatCustomerLists,
  snapchatReporting,
  snowflakeDestination,
  snowflakeSource,
  spotifyAds,
  stripeBilling,
  taboolaBackstage,
  theTradeDeskCrmAudiences,
  theTradeDeskFirstPartyAudiences,
  theTradeDeskMyReports,
  theTradeDeskOfflineConversions,
  theTradeDeskRealTimeConversions,
  theTradeDeskReds,
  tiktokAdReporting,
  tiktokAudienceManagement,
  tiktokCustomerFileAudiences,
  tiktokEvents,
  tiktokLeadForms,
  euidIdentityMap,
  uid2IdentityMap,
  webhook,
  xAdAnalytics,
  xCampaignMeasurement,
  xCustomAudiences,
  yahooDspAudiences,
  yahooDspConversions,
  yahooDspReporting,
  ...withdrawnConnectors,
])

export { makeCatalogue } from './catalogue.ts'
export { answeredMessage, callbackAddress, presetOf, unwrapped, withoutSecret } from './event-stream/presets.ts'
export { entriesOf, rangesOf } from './event-stream/settings.ts'
export {
  type SchemeFacts,
  type SignatureScheme,
  signatureSchemeIds,
  signatureSchemes,
} from './event-stream/signature-schemes.ts'
export { isStoredInKafka } from './event-stream/store-fields.ts'
export { logoOf } from './logo.ts'
export { kindOfPlatform, platformsByKind } from './platform-kinds.ts'
