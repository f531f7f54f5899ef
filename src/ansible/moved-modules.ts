/**
 * Short names that ansible-core sends on to some collection (its routing table, 2.14), for telling a module of a collection
 * from one that is nowhere. Families are named by what stands before the first underscore.
 */
const families: ReadonlySet<string> = new Set(
  `a10 aci acme aix ali asa atomic avi aws azure bigip bigiq bitbucket ce checkpoint clc cloudformation cloudfront
  cloudscale cloudwatchlogs cnos consul cp cpm cs dellos10 dellos6 dellos9 digital dladm docker ec2 ecs edgeos
  elasticache elb enos eos exos fmgr fortios ftd gce gcp github gitlab gluster grafana hcloud hetzner hpilo hwc iam
  ibm icx idrac infini influxdb intersight ios iosxr ipa ipadm ironware jenkins junos k8s keycloak kubevirt lambda
  ldap manageiq memset meraki mongodb mso mysql na net netapp netbox netconf netscaler nios nos nso nxos one
  oneandone oneview online onyx openssl openvswitch os ovh ovirt packet panos pn podman postgresql profitbricks
  proxysql purefa purefb rabbitmq rax rds redfish redshift route53 s3 scaleway sensu sf skydive slxos sros tower ucs
  udm utm vca vcenter vdirect vertica vmware voss vr vultr vyos webfaction win xenserver zabbix`.split(/\s+/),
)

const singles: ReadonlySet<string> = new Set(
  `acl aerospike_migrations airbrake_deployment aireos_command aireos_config alternatives apache2_mod_proxy
  apache2_module apconos_command apk apt_repo apt_rpm archive aruba_command aruba_config at
  authorized_key awall bcf_switch beadm bearychat bigmon_chain bigmon_policy bigpanda bower bundler bzr campfire
  capabilities catapult certificate_complete_chain circonus_annotation cisco_spark cli_command cli_config
  cloud_init_data_facts cloudflare_dns cloudformation cloudtrail cloudwatchevent_rule cobbler_sync cobbler_system
  composer consul cpanm cronvar crypttab cv_server_provision cyberark_authentication cyberark_user data_pipeline
  datadog_event datadog_monitor dconf deploy_helper dimensiondata_network dimensiondata_vlan django_manage
  dms_endpoint dms_replication_subnet_group dnsimple dnsmadeeasy dynamodb_table dynamodb_ttl easy_install ec2
  edgeswitch_facts edgeswitch_vlan efs efs_facts efs_info ejabberd_user elasticache elasticsearch_plugin
  emc_vnx_sg_member eric_eccli_command etcd3 execute_lambda exo_dns_domain exo_dns_record facter faz_device
  filesystem firewalld flatpak flatpak_remote flowadm flowdock foreman frr_bgp frr_facts
  gc_storage gcdns_record gcdns_zone gce gconftool2 gcpubsub gcpubsub_facts gcpubsub_info gcspanner gem
  get_certificate git_config grove gunicorn haproxy helm heroku_collaborator hg hipchat homebrew homebrew_cask
  homebrew_tap honeybadger_deployment hponcfg htpasswd iam iap_start_workflow iap_token icinga2_feature icinga2_host
  ig_config ig_unit_information imc_rest imgadm infinity ini_file installp interfaces_file ip_netns ipify_facts
  ipinfoio_facts ipmi_boot ipmi_power ipwcli_dns irc iso_extract jabber java_cert java_keystore jboss jira k8s
  katello kernel_blacklist kibana_plugin kinesis_stream lambda layman lbu librato_annotation lightsail linode
  linode_v4 listen_ports_facts lldp locale_gen logentries logentries_msg logicmonitor logicmonitor_facts
  logstash_plugin luks_device lvg lvol lxc_container lxca_cmms lxca_nodes lxd_container lxd_profile macports mail
  make mas matrix mattermost maven_artifact mksysb modprobe monit mount mqtt mssql_db nagios nclu netact_cm_command
  netcup_dns newrelic_deployment nexmo nginx_status_facts nginx_status_info nictagadm nmcli nosh npm nsupdate
  nuage_vspk oci_vcn office_365_connector_card ohai omapi_host ome_device_info onepassword_facts onepassword_info
  open_iscsi openbsd_pkg opendj_backendprop openshift_raw openshift_scale openssh_cert openssh_keypair openwrt_init
  opkg opx_cps ordnance_config ordnance_facts osx_defaults osx_say ovirt pacemaker_cluster pacman pagerduty
  pagerduty_alert pam_limits pamd parted patch pear pids pingdom pip_package_info pkg5 pkg5_publisher pkgin pkgng
  pkgutil portage portinstall profitbricks proxmox proxmox_kvm proxmox_template psexec pubnub_blocks pulp_repo
  puppet pushbullet pushover python_requirements_facts python_requirements_info rax rds read_csv redhat_subscription
  redis redshift restconf_config restconf_get rhevm rhn_channel rhn_register rhsm_release rhsm_repository riak
  rocketchat rollbar_deployment route53 routeros_command routeros_facts rundeck_acl_policy rundeck_project runit say
  seboolean sefcontext selinux selinux_permissive selogin sendgrid seport serverless setup.ps1 sl_vm slack slackpkg
  slurp.ps1 smartos_image_facts smartos_image_info snap snmp_facts snow_record snow_record_find sns sns_topic
  solaris_zone sorcery spectrum_device spotinst_aws_elastigroup sqs_queue ss_3par_cpg stackdriver stacki_host
  statusio_maintenance sts_assume_role sts_session_token supervisorctl svc svr4pkg swdepot swupd synchronize sysctl
  syslogger syspatch taiga_issue telegram telnet terraform timezone twilio typetalk ufw uptimerobot urpmi
  uses_redirected_action vdo vexata_eg vexata_volume virt virt_net virt_pool vmadm vsphere_copy vsphere_file
  wakeonlan x509_crl x509_crl_info xattr xbps xfconf xfs_quota xml yarn zfs zfs_delegate_admin zfs_facts znode
  zpool_facts zypper zypper_repository`.split(/\s+/),
)

/** Whether a short name is, or by its family may be, one that moved to a collection. */
export function isMovedModule(name: string): boolean {
  const [family = ''] = name.split('_')
  return singles.has(name) || (family !== name && families.has(family))
}
